// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct MonitoringTests {
    private let request = HTTPRequest(url: server)

    fileprivate final class Log: EventMonitor {
        let events = Recorder<(UInt64, String)>()
        /// One element for each operation that has ended.
        let ends = Recorder<Void>()

        func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
            let text =
                switch event {
                case .operationCreated: "made"
                case .operationStarted: "started"
                case .operationJoined(let leader): "joined \(leader.requestType)"
                case .transferStarted(let attempt): "attempt \(attempt.number) \(attempt.cause)"
                case .responseStarted(let head, let attempt): "response \(attempt.number) \(head.status.code)"
                case .informationalResponseReceived(let head, let attempt):
                    "informational \(attempt.number) \(head.status.code)"
                case .trailersReceived(let fields, let attempt):
                    "trailers \(attempt.number) \(fields.map { "\($0.name): \($0.value)" })"
                case .transferEnded(let attempt, let record):
                    "end \(attempt.number)\(record.error.map { " \($0.code)" } ?? "")"
                case .retryScheduled(let delay, let error): "retry \(delay) \(error.code)"
                case .authenticationStarted(let step): "\(step)"
                case .authenticationEnded(let step, let isGranted): "\(step) \(isGranted ? "granted" : "refused")"
                case .operationEnded(let outcome): "\(outcome)".prefix { $0 != ":" }.description
                }
            events.record((operation.id, text))
            if case .operationEnded = event { ends.record(()) }
        }

        var texts: [String] { events.elements.map(\.1) }
    }

    private struct Signing: Interceptor {
        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            if request.url.path == server.path { _ = try await context.send(HTTPRequest(url: home)) }
        }
    }

    @Test func logsUsePublicRequestTypeNames() async throws {
        let lines = Recorder<String>()
        let client = HTTPClient(transport: InMemoryTransport { _ in .json(#"{"id": 1, "name": "a"}"#) }) {
            $0.monitors = [.events { event, operation in lines.record("\(operation) \(event)") }]
            $0.interceptors = [Signing()]
        }

        _ = try await client.fetch(request.decoding(.json(User.self)))
        for try await _ in try await client.stream(request) {}
        _ = try await client.fetch(request.download())
        try await eventually { lines.elements.filter { $0.contains("operationEnded") }.count == 6 }

        let names = Set(
            lines.elements.compactMap { $0.split(separator: " ", maxSplits: 1).last?.prefix { $0 != "\u{20}" } }
        )
        #expect(names.isSubset(of: ["HTTPRequest<User>", "HTTPRequest", "Download"]), "\(names)")
        #expect(
            !lines.elements.contains {
                $0.contains("Refresh") || $0.contains("Requests.") || $0.contains("TypedRequest")
            }
        )
    }

    @Test func informationalResponsesAndTrailersAreReported() async throws {
        let log = Log()
        let transport = ManualTransport()
        let queue = TestQueue(transport) { $0.monitors = [log] }

        let operation = queue.addRequest(request)
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.informational(HTTPResponseHead(status: .earlyHints, headers: ["Link": "</a.css>"])))
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.informational(HTTPResponseHead(status: .processing)))
        transfer.receive(.trailers(["X-Sum": "1"]))
        transfer.receive(.end(nil))
        await operation.end()
        _ = await log.ends.first(1)

        #expect(
            log.texts == [
                "made", "started", "attempt 1 initial", "informational 1 103", "response 1 200",
                "trailers 1 [\"X-Sum: 1\"]", "end 1", "success",
            ]
        )
    }

    @Test func retryAndRedirectTransfersAreReported() async {
        let log = Log()
        let transport = InMemoryTransport.answering([
            .status(.serviceUnavailable), .status(.found, headers: [.location: "/end"]),
            .status(.ok, body: Data("end".utf8)),
        ])
        let queue = TestQueue(transport) {
            $0.monitors = [log]
            $0.retry = RetryPolicy(backoff: .none)
        }

        await queue.addRequest(request).end()
        _ = await log.events.first(13)

        #expect(
            log.texts == [
                "made", "started", "attempt 1 initial", "response 1 503", "end 1",
                "retry 0.0 seconds unacceptableStatus",
                "attempt 2 retry", "response 2 302", "end 2", "attempt 3 redirect", "response 3 200", "end 3",
                "success",
            ]
        )
    }

    /// A transport may end a transfer twice, or release it late; neither ends another transfer.
    @Test func repeatedEndDoesNotEndOtherTransfer() async throws {
        let log = Log()
        let transport = ManualTransport()
        let operation = TestQueue(transport) { $0.monitors = [log] }.addRequest(request)

        let first = try await transport.awaitTransfer()
        first.receive(.head(HTTPResponseHead(status: .found, headers: [.location: "/end"])))
        first.receive(.end(nil))
        let second = try await transport.awaitTransfer(count: 2)
        first.receive(.end(nil))
        second.receive(.head(HTTPResponseHead(status: .ok)))
        second.receive(.end(nil))
        await operation.end()
        _ = await log.events.first(9)

        #expect(
            log.texts == [
                "made", "started", "attempt 1 initial", "response 1 302", "end 1", "attempt 2 redirect",
                "response 2 200", "end 2", "success",
            ]
        )
    }

    @Test func coalescedOperationsReportTheirLeader() async {
        let log = Log()
        let gate = Gate()
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("one".utf8)).held(by: gate) }) {
            $0.monitors = [log]
        }

        let operations = (0..<2).map { _ in queue.addRequest(TextRequest(), coalescing: true) }
        // Three operations have been created and started; two have joined, and one has sent its request.
        _ = await log.events.first(9)
        gate.open()
        for operation in operations { await operation.end() }
        _ = await log.events.first(14)

        let trees = Dictionary(grouping: log.events.elements, by: \.0).values.map { $0.map(\.1) }
        let follower = ["made", "started", "joined TextRequest", "success"]
        #expect(trees.count { $0 == follower } == 2)
        #expect(
            trees.count { $0 == ["made", "started", "attempt 1 initial", "response 1 200", "end 1", "success"] } == 1
        )
    }

    @Test func refreshIsReportedByWaitingOperation() async {
        let log = Log()
        let transport = InMemoryTransport { request in
            request.headers[.authorization] == "Bearer new" ? .status(.ok) : .status(.unauthorized)
        }
        let authenticator = TokenAuthenticator { _ in "new" }
        let queue = TestQueue(transport) {
            $0.monitors = [log]
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        await queue.addRequest(request).end()
        _ = await log.events.first(12)
        await queue.addRequest(request).end()
        _ = await log.events.first(18)

        #expect(
            log.texts == [
                "made", "started", "attempt 1 initial", "response 1 401", "end 1", "refresh", "refresh granted",
                "retry 0.0 seconds unacceptableStatus", "attempt 2 retry", "response 2 200", "end 2", "success",
                "made", "started", "attempt 1 initial", "response 1 200", "end 1", "success",
            ]
        )
    }

    @Test func cancelledWaiterReportsRefreshEnd() async {
        let (log, desk) = (Log(), RefreshDesk())
        let queue = TestQueue {
            $0.monitors = [log]
            // Without a timeout, only the cancellation can end it.
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, origins: sampleOrigins, timeout: nil)]
        }
        let operation = queue.addRequest(request)
        _ = await log.events.first(3)

        operation.cancel()
        await operation.end()
        _ = await log.events.first(5)
        await desk.end(with: .success("new"))

        #expect(log.texts == ["made", "started", "refresh", "refresh refused", "cancelled"])
    }

    @Test(arguments: [true, false]) func challengeIsReportedWithItsOutcome(isAnswered: Bool) async throws {
        let log = Log()
        let transport = InMemoryTransport.answering([
            .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="kitchen""#]), .status(.ok),
        ])
        let queue = TestQueue(transport) {
            $0.monitors = [log]
            $0.interceptors = [
                ChallengeInterceptor { _, _ in
                    isAnswered ? URLCredential(user: "ada", password: "pan", persistence: .none) : nil
                }
            ]
        }

        await queue.addRequest(request).end()
        let end = isAnswered ? "success" : "failure"
        try await eventually { log.texts.last == end }

        let outcome = isAnswered ? "granted" : "refused"
        let steps = log.texts.filter { $0.hasPrefix("challenge") }
        #expect(steps == ["challenge Basic", "challenge Basic \(outcome)"])
    }

    @Test func unstartedOperationReportsItsEnd() async {
        let log = Log()
        let queue = TestQueue(isSuspended: true) { $0.monitors = [log] }

        let operation = queue.addRequest(request)
        operation.cancel()
        _ = queue.makeOperation(for: request)
        queue.base.isSuspended = false
        await operation.end()

        #expect(log.texts.sorted() == ["cancelled", "cancelled", "made", "made"])
    }

    @Test func customErrorIsReportedAsFailure() async {
        let log = Log()
        let queue = TestQueue { $0.monitors = [log] }

        await queue.addRequest(CustomFailureRequest(process: { _ in throw SampleError() })).end()
        _ = await log.events.first(6)

        #expect(log.texts.last == "failure")
    }
}

@Suite(.bounded) struct MonitoringRaceTests {
    @Test func cancellationRaceKeepsEventsBalanced() async {
        let log = MonitoringTests.Log()
        let queue = TestQueue { environment in
            environment.monitors = [log]
            environment.interceptors = [ClosureInterceptor()]
        }

        for _ in 0..<Scale.races {
            let operation = queue.addRequest(HTTPRequest(url: server))
            DispatchQueue.global().async { operation.cancel() }
            await operation.end()
        }
        let ends: Set = ["success", "cancelled"]
        await log.ends.first(Scale.races)

        for (_, events) in Dictionary(grouping: log.events.elements, by: \.0) {
            let texts = events.map(\.1)
            #expect(texts.first == "made" && texts.count { ends.contains($0) } == 1 && ends.contains(texts.last ?? ""))
            let attempts = texts.filter { $0.hasPrefix("attempt") }.count
            #expect(attempts <= 1 && texts.filter { $0.hasPrefix("end") }.count == attempts)
        }
    }
}

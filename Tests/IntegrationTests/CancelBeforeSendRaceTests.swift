// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A request that is cancelled before it is sent never reaches its server: an application that has shown
    /// “cancelled” must not have paid.
    ///
    /// A full run has a thousand rounds of each row.
    @Suite(.bounded) struct CancelBeforeSendRaceTests {
        /// The way of a request to its server.
        enum Way: Sendable, CustomTestStringConvertible {
            case network(TransportUnderTest)
            case inMemory
            /// A transport of a user's, which does all its work in `send`.
            case direct

            static let networks = TransportUnderTest.all.map(Way.network)
            static let all = networks + [.inMemory, .direct]

            var testDescription: String {
                if case .network(let transport) = self { transport.rawValue } else { "\(self)" }
            }
        }

        /// A server that counts the requests for each path, over one of the ways.
        private final class Payee: Sendable {
            let url: URL
            let session: (any HTTPTransport)?
            private let server: MockServer?
            private let received: Locked<[String: Int]>

            init(over way: Way, answer: @escaping @Sendable (String) -> StubResponse = { _ in .text("paid") }) throws {
                let received = Locked<[String: Int]>([:])
                let respond: @Sendable (String) -> StubResponse = { path in
                    received.withLock { $0[path, default: 0] += 1 }
                    return answer(path)
                }
                self.received = received
                switch way {
                case .network(let transport):
                    let server = try MockServer { respond($0.path) }
                    (self.server, url, session) = (server, server.url, transport.makeSession())
                case .inMemory:
                    session = InMemoryTransport(recordsRequests: false) { respond($0.url.path) }
                    (server, url) = (nil, try #require(URL(string: "http://payee.example")))
                case .direct:
                    session = DirectTransport { _ = respond($0) }
                    (server, url) = (nil, try #require(URL(string: "http://payee.example")))
                }
            }

            func url(_ path: String) -> URL { url.appendingPathComponent(path) }

            /// The number of received requests for a path.
            func count(of path: String) -> Int { received.withLock { $0[path] ?? 0 } }

            /// The number of received requests but those of ``touch(on:)``.
            var count: Int { received.withLock { $0.filter { $0.key != "/alive" }.values.reduce(0, +) } }

            /// Sends a request, so that the next ones find a connection, and the ones before have arrived.
            func touch(on queue: OperationQueue) async throws {
                _ = try await queue.fetch(Call(url("alive")), session: session)
            }
        }

        private final class DirectTransport: HTTPTransport {
            private final class Ended: TransferHandle {
                func cancel() {}
            }

            let capabilities: TransportCapabilities = []
            private let deliver: @Sendable (String) -> Void

            init(_ deliver: @escaping @Sendable (String) -> Void) {
                self.deliver = deliver
            }

            func send(
                _ request: TransportRequest,
                receive: @escaping @Sendable (TransferEvent) -> Void
            ) -> any TransferHandle {
                deliver(request.url.path)
                receive(.head(HTTPResponseHead(status: .ok)))
                receive(.end(nil))
                return Ended()
            }
        }

        // MARK: From a monitor

        @Test(arguments: Way.all) func cancelAtAnyMonitorEventPreventsSending(_ way: Way) async throws {
            let payee = try Payee(over: way) { path in
                switch path.split(separator: "/").first {
                case "order": .redirect(to: "/pay/" + (path.split(separator: "/").last ?? ""))
                case "pay": .status(.serviceUnavailable)
                default: .text("alive")
                }
            }
            let queue = OperationQueue()
            for round in 0..<Scale.pick(2, whole: 60) {
                for moment in 1... {
                    let key = "\(round)-\(moment)"
                    try await payee.touch(on: queue)
                    let (events, sent) = (Locked(0), Locked(0))
                    let target = Locked<NetworkOperation<Call>?>(nil)
                    let call = Call(payee.url("order/\(key)"), method: .put) {
                        $0.retry = RetryPolicy(limit: 1, backoff: .none)
                        $0.monitors = [
                            .events { event, _ in
                                let number = events.withLock { events in
                                    defer { events += 1 }
                                    return events
                                }
                                if number == moment { target.withLock { $0 }?.cancel() }
                                if case .transferStarted = event, number < moment { sent.withLock { $0 += 1 } }
                            }
                        ]
                    }
                    let operation = queue.makeOperation(for: call, session: payee.session)
                    target.withLock { $0 = operation }
                    queue.addOperation(operation)
                    _ = try? await operation.value()
                    await queue.drain()
                    target.withLock { $0 = nil }
                    try await payee.touch(on: queue)

                    let received = payee.count(of: "/order/\(key)") + payee.count(of: "/pay/\(key)")
                    #expect(received == sent.withLock { $0 }, "event \(moment)")
                    guard operation.isCancelled else { break }
                    if moment < events.withLock({ $0 }) - 1 {
                        #expect(operation.result?.failure?.code == .cancelled, "event \(moment)")
                    }
                }
            }
        }

        // MARK: By any means, before the send

        enum Canceller: CaseIterable, Sendable {
            case monitor, thread, task, deadline, sentProgress, receivedProgress, queue
        }

        /// The monitor keeps the transfer from its send until the operation has its result.
        @Test(arguments: Canceller.allCases, Way.all)
        func completedRequestIsNotSent(_ canceller: Canceller, _ way: Way) async throws {
            let payee = try Payee(over: way)
            let (queue, touching) = (OperationQueue(), OperationQueue())
            for round in 0..<Scale.pick(5, whole: 1000) {
                try await payee.touch(on: touching)
                let target = Locked<(operation: NetworkOperation<Call>?, task: Task<Void, Never>?)>((nil, nil))
                let hasResult = DispatchSemaphore(value: 0)
                let call = Call(payee.url("pay/\(round)"), method: .post) {
                    if canceller == .deadline { $0.deadline = .milliseconds(5) }
                    $0.monitors = [
                        .events { event, _ in
                            guard case .transferStarted = event else { return }
                            let (operation, task) = target.withLock { $0 }
                            switch canceller {
                            case .monitor: operation?.cancel()
                            case .thread: DispatchQueue.global().async { operation?.cancel() }
                            case .task: task?.cancel()
                            case .sentProgress: operation?.uploadProgress.cancel()
                            case .receivedProgress: operation?.progress.cancel()
                            case .queue: queue.cancelAllOperations()
                            case .deadline: break
                            }
                            #expect(hasResult.wait(timeout: .now() + 10) == .success)
                        }
                    ]
                }
                let operation = queue.makeOperation(for: call, session: payee.session) { _ in hasResult.signal() }
                let isReady = Gate()
                let task = Task {
                    try? await isReady.wait()
                    await withTaskCancellationHandler {
                        queue.addOperation(operation)
                        _ = try? await operation.value()
                    } onCancel: {
                        operation.cancel()
                    }
                }
                target.withLock { $0 = (operation, task) }
                isReady.open()
                await task.value
                await queue.drain()
                target.withLock { $0 = (nil, nil) }
                let code = operation.result?.failure?.code
                #expect(code == (canceller == .deadline ? .deadlineExceeded : .cancelled))
            }
            try await payee.touch(on: touching)

            #expect(payee.count == 0)
        }

        @Test(arguments: Way.networks) func bodyCancellingDuringOpenIsNotSent(_ way: Way) async throws {
            let payee = try Payee(over: way)
            let queue = OperationQueue()
            for round in 0..<Scale.pick(20, whole: 1000) {
                try await payee.touch(on: queue)
                let target = Locked<NetworkOperation<Call>?>(nil)
                let body = HTTPBody.Stream(length: 4) {
                    target.withLock { $0 }?.cancel()
                    return InputStream(data: Data("paid".utf8))
                }
                let call = Call(payee.url("pay/\(round)"), method: .post, body: .stream(body))
                let operation = queue.makeOperation(for: call, session: payee.session)
                target.withLock { $0 = operation }
                queue.addOperation(operation)
                _ = try? await operation.value()
                await queue.drain()
                target.withLock { $0 = nil }
                #expect(operation.result?.failure?.code == .cancelled)
            }
            try await payee.touch(on: queue)

            #expect(payee.count == 0)
        }

        @Test(arguments: TransportUnderTest.configurable)
        func taskCancelledDuringConfigurationIsNotResumed(_ transport: TransportUnderTest) async throws {
            let payee = try Payee(over: .network(transport))
            let queue = OperationQueue()
            for round in 0..<Scale.pick(20, whole: 1000) {
                let target = Locked<NetworkOperation<Call>?>(nil)
                let call = Call(payee.url("pay/\(round)"), method: .post) {
                    $0.configureTask = { _ in target.withLock { $0 }?.cancel() }
                }
                let operation = queue.makeOperation(for: call, session: payee.session)
                target.withLock { $0 = operation }
                queue.addOperation(operation)
                _ = try? await operation.value()
                await queue.drain()
                target.withLock { $0 = nil }
                #expect(operation.result?.failure?.code == .cancelled)
            }
            try await payee.touch(on: queue)

            #expect(payee.count == 0)
        }

        @Test(arguments: Way.all) func sharedRequestCancelledByAllCallersIsNotSent(_ way: Way) async throws {
            let payee = try Payee(over: way)
            let (client, touching) = (
                HTTPClient(transport: payee.session ?? HTTPClient.defaultTransport), OperationQueue()
            )
            for round in 0..<Scale.pick(20, whole: 1000) {
                try await payee.touch(on: touching)
                let targets = Locked<[NetworkOperation<Call>]>([])
                client.configure {
                    $0.monitors = [
                        .events { event, _ in
                            guard case .transferStarted = event else { return }
                            for target in targets.withLock({ $0 }) { target.cancel() }
                        }
                    ]
                }
                client.isSuspended = true
                let operations = (0..<3).map { _ in
                    client.addRequest(Call(payee.url("pay/\(round)")), coalescing: true)
                }
                targets.withLock { $0 = operations }
                client.isSuspended = false
                for operation in operations {
                    await #expect(throws: RequestError.self) { try await operation.value() }
                }
                targets.withLock { $0 = [] }
            }
            try await payee.touch(on: touching)

            #expect(payee.count == 0)
        }

        // MARK: From another thread, at any moment

        /// A cancel may come too late. It isn't if the operation has its result before the last monitor returns that is
        /// notified of the transfer: then the request isn't sent.
        @Test(arguments: Way.all, [false, true])
        func requestCancelledInTimeIsNotSent(_ way: Way, byDeadline: Bool) async throws {
            let payee = try Payee(over: way)
            let (queue, touching) = (OperationQueue(), OperationQueue())
            let inTime = Locked<Set<Int>>([])
            var random = Fuzz()
            for round in 0..<Scale.races {
                if round.isMultiple(of: 4) { try await payee.touch(on: touching) }
                let target = Locked<NetworkOperation<Call>?>(nil)
                let delay = Int.random(in: 0...400, using: &random)
                let call = Call(payee.url("pay/\(round)"), method: .post) {
                    if byDeadline { $0.deadline = .microseconds(delay) }
                    $0.monitors = [
                        .events { event, _ in
                            guard case .transferStarted = event else { return }
                            // Widens the window in which the cancel has to be noticed.
                            let end = ContinuousClock.now + .microseconds(200)
                            while ContinuousClock.now < end {}
                            guard target.withLock({ $0 })?.result != nil else { return }
                            _ = inTime.withLock { $0.insert(round) }
                        }
                    ]
                }
                let operation = queue.makeOperation(for: call, session: payee.session)
                target.withLock { $0 = operation }
                queue.addOperation(operation)
                if !byDeadline {
                    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { operation.cancel() }
                }
                _ = try? await operation.value()
                await queue.drain()
                target.withLock { $0 = nil }
            }
            try await payee.touch(on: touching)

            let sent = inTime.withLock { $0 }.filter { payee.count(of: "/pay/\($0)") > 0 }
            #expect(sent.isEmpty, "\(sent.count) of \(inTime.withLock { $0 }.count), seed \(Fuzz.seed)")
        }
    }
}

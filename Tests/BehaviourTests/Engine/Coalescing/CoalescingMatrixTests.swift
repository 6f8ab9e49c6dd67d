// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Two callers of one resource: the properties that they share, and those that they don't.
@Suite(.bounded) struct CoalescingMatrixTests {
    private let transport = ManualTransport()

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: server, maxConcurrentRequests: 8, transport: transport, configure)
    }

    /// Completes all transfers, once there are `count` of them.
    private func answer(_ count: Int = 1, _ status: HTTPStatus = .ok, _ text: String = "shared") async throws {
        try await transport.awaitTransfer(count: count)
        for transfer in transport.transfers {
            transfer.receive(.head(HTTPResponseHead(status: status)))
            transfer.receive(.data(Data(text.utf8)))
            transfer.receive(.end(nil))
        }
    }

    // MARK: Separate

    @Test func participantsDecodeResponseSeparately() async throws {
        struct Number: DataRequest {
            typealias Success = Int
            typealias Failure = RequestError
            let name: String
            var identifier: String { "numbers" }
            func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
            func processData(_ data: Data) throws -> Int {
                try JSONDecoder().decode([String: Int].self, from: data)[name] ?? 0
            }
        }
        let client = client()

        let operations = ["a", "b"].map { client.addRequest(Number(name: $0), coalescing: true) }
        try await answer(1, .ok, #"{"a": 1, "b": 2}"#)

        #expect(try await operations[0].value() == 1)
        #expect(try await operations[1].value() == 2)
        #expect(transport.transfers.count == 1)
    }

    @Test func participantsValidateStatusSeparately() async throws {
        let ends = Recorder<OperationEvent.Outcome>()
        let client = client {
            $0.monitors = [
                .events { event, _ in if case .operationEnded(let outcome) = event { ends.record(outcome) } }
            ]
        }

        let lenient = client.addRequest(TextRequest(validHTTPStatusCodes: [404]), coalescing: true)
        let strict = client.addRequest(TextRequest(), coalescing: true)
        try await answer(1, .notFound, "gone")

        #expect(try await lenient.value() == "gone")
        let error = await #expect(throws: RequestError.self) { try await strict.value() }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(error?.body == Data("gone".utf8) && error?.transfers.count == 1)
        // The transfer itself has succeeded.
        let failures = await ends.first(3).filter { if case .failure = $0 { true } else { false } }
        guard case .failure(let told)? = failures.first else { return #expect(Bool(false), "\(ends.elements)") }
        #expect(failures.count == 1 && told.code == .unacceptableStatus)
    }

    @Test func participantsPauseSeparately() async throws {
        let client = client()
        let (paused, other) = (
            Probe(adding: TextRequest(), to: client, coalescing: true),
            Probe(adding: TextRequest(), to: client, coalescing: true)
        )
        paused.operation.pause()

        try await answer()

        #expect(await other.ended().map(\.value) == ["shared"])
        #expect(paused.operation.result == nil)
        paused.operation.resume()
        #expect(await paused.ended().map(\.value) == ["shared"])
        #expect(transport.transfers.count == 1)
    }

    @Test func transferPausesWhenAllParticipantsPause() async throws {
        let joined = Recorder<Void>()
        let client = client {
            $0.monitors = [.events { event, _ in if case .operationJoined = event { joined.record(()) } }]
        }
        let operations = (0..<2).map { _ in client.addRequest(TextRequest(), coalescing: true) }
        let transfer = try await transport.awaitTransfer()
        await joined.first(2)

        operations[0].pause()
        try await eventually { !transfer.isPaused }
        operations[1].pause()
        try await eventually { transfer.isPaused }
        operations[0].resume()
        try await eventually { !transfer.isPaused }
        try await answer()

        #expect(try await operations[0].value() == "shared")
        operations[1].resume()
        #expect(try await operations[1].value() == "shared")
    }

    @Test func participantsHaveSeparateBodyLimits() async throws {
        let client = client()
        client.isSuspended = true
        var narrow = RequestOptions()
        narrow.maximumBodySize = 2

        let bounded = client.addRequest(TextRequest(options: narrow), coalescing: true)
        let wide = client.addRequest(TextRequest(), coalescing: true)
        client.isSuspended = false
        try await answer()

        #expect(try await wide.value() == "shared")
        let error = await #expect(throws: RequestError.self) { try await bounded.value() }
        #expect(error?.code == .bodyTooLarge && transport.transfers.count == 1)
    }

    @Test func queuedRequestSharesFinishedResponse() async throws {
        let client = client()
        client.maxConcurrentRequests = 1
        let (first, late) = (
            Probe(adding: TextRequest(), to: client, coalescing: true),
            Probe(adding: TextRequest(), to: client, coalescing: true)
        )

        try await answer()

        #expect(await first.ended().map(\.value) == ["shared"])
        #expect(await late.ended().map(\.value) == ["shared"])
        #expect(transport.transfers.count == 1)
    }

    // MARK: Shared

    struct Difference: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isShared: Bool
        var options: @Sendable (inout RequestOptions) -> Void = { _ in }
        var http: @Sendable (inout HTTPRequest) -> Void = { _ in }
    }

    static let differences: [Difference] = [
        Difference(testDescription: "nothing", isShared: true),
        Difference(testDescription: "statuses are validated", isShared: true, options: { $0.validatesStatus = false }),
        Difference(testDescription: "deadline", isShared: true, options: { $0.deadline = .seconds(100) }),
        Difference(testDescription: "priority", isShared: true, options: { $0.priority = .high }),
        Difference(testDescription: "tag", isShared: true, options: { $0.tag = "second" }),
        Difference(testDescription: "retry", isShared: true, options: { $0.retry = .default }),
        Difference(
            testDescription: "interceptors that are made anew at each read",
            isShared: true,
            options: { $0.interceptors = [.adapting { _ in }] }
        ),
        Difference(testDescription: "traceparent", isShared: true, http: { $0.headers["traceparent"] = "00-2" }),
        Difference(testDescription: "request id", isShared: true, http: { $0.headers["X-Request-ID"] = "2" }),
        Difference(testDescription: "timeout", isShared: false, options: { $0.timeout = .seconds(7) }),
        Difference(testDescription: "cookies", isShared: false, options: { $0.usesCookies = false }),
        Difference(testDescription: "trust", isShared: false, options: { $0.trust = .system.requiring(.tls13) }),
        Difference(
            testDescription: "credentials",
            isShared: false,
            http: { $0.headers.set(.authorization(.bearer("bob"))) }
        ),
        Difference(testDescription: "a cookie", isShared: false, http: { $0.headers["Cookie"] = "user=bob" }),
        Difference(testDescription: "language", isShared: false, http: { $0.headers["Accept-Language"] = "de" }),
        Difference(
            testDescription: "cache policy",
            isShared: false,
            http: { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        ),
        Difference(testDescription: "version", isShared: false, http: { $0.usesHTTP2 = false }),
        Difference(testDescription: "content", isShared: false, http: { $0.body = .data(Data("2".utf8)) }),
        Difference(testDescription: "an unsafe method", isShared: false, http: { $0.method = .put }),
    ]

    @Test(arguments: differences) func onlyWireDifferencesPreventSharing(_ difference: Difference) async throws {
        let client = client()
        client.isSuspended = true
        var second = WireRequest()
        difference.options(&second.options)
        difference.http(&second.http)

        let operations = [WireRequest(), second].map { client.addRequest($0, coalescing: true) }
        client.isSuspended = false
        try await answer(difference.isShared ? 1 : 2)

        for operation in operations { #expect(try await operation.value() == "shared") }
        #expect(transport.transfers.count == (difference.isShared ? 1 : 2))
    }

    @Test func tracingInterceptorsDoNotPreventSharing() async throws {
        let client = client { $0.interceptors = [.adapting { $0.headers["X-Request-ID"] = UUID().uuidString }] }

        let operations = (0..<5).map { _ in client.addRequest(TextRequest(), coalescing: true) }
        try await answer()

        for operation in operations { #expect(try await operation.value() == "shared") }
        #expect(transport.transfers.count == 1)
    }

    /// A queue that isn't a client has no known chain: its interceptors may belong to another user.
    @Test func customQueueWithInterceptorsDoesNotShare() async throws {
        let queue = TestQueue(transport) { $0.interceptors = [.adapting { _ in }] }

        let operations = (0..<2).map { _ in queue.addRequest(TextRequest(), coalescing: true) }
        try await answer(2)

        for operation in operations { #expect(try await operation.value() == "shared") }
    }

    // MARK: Retries

    @Test(arguments: [1, 4, 64], [[503, 200], [503, 503, 503]]) func participantsShareRetries(
        width: Int,
        statuses: [Int]
    ) async {
        let sent = Recorder<Void>()
        let transport = InMemoryTransport { _ in
            sent.record(())
            return .status(HTTPStatus(statuses[min(sent.count, statuses.count) - 1]))
        }
        let client = HTTPClient(maxConcurrentRequests: width, transport: transport) {
            $0.retry = RetryPolicy(limit: statuses.count - 1, backoff: .none)
        }
        client.isSuspended = true
        let probes = (0..<20).map { _ in Probe(adding: TextRequest(), to: client, coalescing: true) }
        client.isSuspended = false

        for probe in probes {
            #expect(await probe.ended().map(\.error?.response?.status.code) == [statuses.last == 200 ? nil : 503])
        }
        #expect(sent.count == statuses.count)
    }

    @Test func sharedResponseIsCachedOnce() async {
        let (stored, gate) = (Recorder<Void>(), Gate())
        let cache = ResponseCache(keeping: { response, _ in
            stored.record(())
            return response
        })
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.cacheControl: "max-age=100"], body: Data("shared".utf8)).held(by: gate)
        }
        let client = HTTPClient(maxConcurrentRequests: 8, transport: transport) { $0.cache = cache }
        let probes = (0..<8).map { _ in Probe(adding: TextRequest(), to: client, coalescing: true) }
        gate.open()

        for probe in probes { #expect(await probe.ended().map(\.value) == ["shared"]) }
        #expect(stored.count == 1)
    }
}

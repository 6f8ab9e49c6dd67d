// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct InMemoryTransportTests {
    private let url = URL(string: "https://a/x")!

    /// The events of a transfer as they come, and a gate that opens at the end.
    private struct Received: Sendable {
        let all = Locked<[String]>([])
        let isOver = Gate()

        var values: [String] { all.withLock { $0 } }

        func record(_ event: String) { all.withLock { $0.append(event) } }
    }

    private func send(
        _ response: StubResponse,
        body: HTTPBody = .none,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> (events: Received, transfer: any TransferHandle) {
        let events = Received()
        let transport = InMemoryTransport(clock: clock) { _ in response }
        let transfer = transport.send(TransportRequest(HTTPRequest(url: url, method: .post, body: body))) { event in
            switch event {
            case .head(let head): events.record("\(head.status.code)\(head[.connection].map { " \($0)" } ?? "")")
            case .data(let data): events.record(String(decoding: data, as: UTF8.self))
            case .trailers(let trailers): events.record("\(trailers.count) trailers")
            case .end(let error):
                events.record(error.map { "\($0.code) \($0.phase)" } ?? "end")
                events.isOver.open()
            default: break
            }
        }
        return (events, transfer)
    }

    static let immediate: [(StubResponse, [String])] = [
        (.text("hello"), ["200", "hello", "end"]),
        (.text("x").closing, ["200 close", "x", "end"]),
        (.text("hello").dripping(by: 2), ["200", "he", "ll", "o", "end"]),
        (.chunked([Data("a".utf8), Data("b".utf8)], trailers: ["X": "1"]), ["200", "a", "b", "1 trailers", "end"]),
        (.text("hello").truncated(after: 2), ["200", "he", "connectionLost receiving"]),
        (.reset, ["connectionLost sending"]),
        (.offline, ["offline sending"]),
    ]

    @Test(arguments: immediate.indices) func responseIsDeliveredSynchronously(_ index: Int) {
        let (response, expected) = Self.immediate[index]

        #expect(send(response).events.values == expected)
    }

    static let wireOnly: [(StubResponse, String)] = [
        (.raw("x"), "raw bytes and scripts require a MockServer"),
        (.script([.reset]), "raw bytes and scripts require a MockServer"),
        (.text("x").early, "an early response requires a MockServer, because stubs receive complete requests"),
    ]

    @Test(arguments: wireOnly.indices) func serverOnlyResponsesAreUnsupported(_ index: Int) async {
        let (response, reason) = Self.wireOnly[index]
        let stubber = HTTPStubber()
        stubber.stub().respond(with: response)

        for transport in [InMemoryTransport { _ in response }, stubber] as [any HTTPTransport] {
            let error = await #expect(throws: RequestError.self) {
                try await HTTPRequest(url: url).fetch(on: HTTPClient(transport: transport))
            }
            #expect(error?.code == .unsupported)
            #expect(error?.reason == reason)
        }
    }

    @Test(arguments: [StubResponse.never, .text("hello").stalled(after: 2)])
    func stalledResponseTimesOutOnTransportClock(_ response: StubResponse) async throws {
        let clock = ManualClock()
        let client = HTTPClient(
            baseURL: URL(string: "https://api.example.com"),
            transport: InMemoryTransport(clock: clock) { _ in response }
        ) { $0.timeout = .seconds(60) }
        let operation = client.addRequest(Get<Data>("a"))

        try await clock.waitForSleepers()
        clock.advance(by: .seconds(60))

        let error = await #expect(throws: RequestError.self) { try await operation.value() }
        #expect(error?.code == .timedOut)
    }

    @Test func responseHeldByClosedGateTimesOut() async {
        let (gate, base) = (Gate(), URL(string: "https://api.example.com"))
        let client = HTTPClient(baseURL: base, transport: InMemoryTransport { _ in .text("late").held(by: gate) })

        let error = await #expect(throws: RequestError.self) {
            try await client.fetch(Get<Data>("a").timeout(.milliseconds(10)))
        }

        #expect(error?.code == .timedOut)
    }

    @Test func heldResponseResumesWhenGateOpens() {
        let gate = Gate()
        let (events, transfer) = send(.text("hello").held(by: gate, after: 2))

        #expect(events.values == ["200", "he"])
        gate.open()
        #expect(events.values == ["200", "he", "llo", "end"])
        transfer.cancel()
        #expect(events.values.count == 4)
    }

    @Test func cancelledResponseIgnoresOpenedGate() {
        let gate = Gate()
        let (events, transfer) = send(.text("hello").held(by: gate))

        transfer.cancel()
        gate.open()

        #expect(events.values == ["cancelled sending"])
    }

    @Test func delayUsesTransportClock() async throws {
        let clock = ManualClock()
        let (events, transfer) = send(.text("hello").delayed(by: .seconds(60)), clock: clock)
        defer { transfer.cancel() }

        try await clock.waitForSleepers()
        #expect(events.values == [])
        clock.advance(by: .seconds(60))

        try await events.isOver.wait()
        #expect(events.values == ["200", "hello", "end"])
    }

    @Test func echoReturnsRequestBody() async throws {
        let (events, _) = send(.echo, body: .data(Data("hello".utf8)))

        try await events.isOver.wait()
        #expect(events.values == ["200", "hello", "end"])
    }

    @Test func handlerSeesRequestBodyAndSettings() async throws {
        let file = try TemporaryFile(Data("file".utf8))
        let bodies: [HTTPBody] = [
            .none, .json(["a": 1]), .file(file.url),
            .stream(HTTPBody.Stream { InputStream(data: Data("stream".utf8)) }),
        ]
        let transport = InMemoryTransport { .text("\($0.method) \($0.text)") }
        let client = HTTPClient(transport: transport) { $0.timeout = .seconds(7) }

        for body in bodies {
            let answer = try await HTTPRequest(url: url, method: .put, body: body).fetch(on: client)
            #expect(answer == Data("PUT \(transport.requests.last?.text ?? "")".utf8))
        }

        #expect(transport.requests.map(\.text) == ["", #"{"a":1}"#, "file", "stream"])
        #expect(transport.requests.map(\.transportRequest?.timeout) == bodies.map { _ in .seconds(7) })
    }

    @Test func encodingFailureFailsRequest() async {
        let transport = InMemoryTransport { _ in .noContent }

        let error = await #expect(throws: RequestError.self) {
            let request = HTTPRequest(url: url, method: .post, body: .json(Double.nan))
            _ = try await request.fetch(on: HTTPClient(transport: transport))
        }

        #expect(error?.code == .encoding)
        #expect(transport.requests.isEmpty)
    }
}

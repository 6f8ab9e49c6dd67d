// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

@Suite(.bounded) struct ExchangeRecorderTests {
    private let url = URL(string: "https://api.example.com/items")!

    private func client(_ transport: any HTTPTransport) -> HTTPClient {
        HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport)
    }

    private func post(_ body: HTTPBody) -> HTTPRequest {
        HTTPRequest(url: url, method: .post, body: body)
    }

    @Test func requestBodiesOfAllKindsAreRecorded() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
        try Data("from a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let network = HTTPStubber()
        network.stub(.any).respond(with: .echo)
        let recorder = ExchangeRecorder(network)
        let bodies: [HTTPBody] = [
            .none, .data(Data("bytes".utf8)), .json(["a": 1]), .form(["b": "2"]), .file(file),
            .stream(HTTPBody.Stream { InputStream(data: Data("opened anew".utf8)) }),
            .stream(HTTPBody.Stream(InputStream(data: Data("read once".utf8)), length: 9)),
        ]

        for body in bodies { _ = try await post(body).fetch(on: client(recorder)) }

        let texts = ["", "bytes", #"{"a":1}"#, "b=2", "from a file", "opened anew", "read once"]
        #expect(recorder.exchanges.map(\.request.text) == texts)
        #expect(recorder.exchanges.map(\.response?.text) == texts)
        #expect(network.requests.map(\.text) == texts)
        #expect(recorder.exchanges.allSatisfy { $0.response?.status == .ok && $0.error == nil })
        #expect(recorder.exchanges.allSatisfy { $0.requestBodySize == Int64($0.request.body.count) })
    }

    @Test func webSocketFramesAreNotRecorded() async throws {
        let server = try MockServer()
        server.route(.get, "/echo", .webSocket { try $0.send("a secret") })
        let recorder = ExchangeRecorder(HTTPClient.defaultTransport)
        let socket = try await HTTPClient(baseURL: server.url, transport: recorder).webSocket("echo")
        for try await _ in socket.messages { break }
        await socket.close()

        try await eventually { recorder.exchanges.contains { $0.response?.status == .switchingProtocols } }
        #expect(recorder.exchanges.map(\.response?.body) == [Data()])
    }

    @Test func recordedContentIsTruncatedAtLimit() async throws {
        let network = HTTPStubber()
        network.stub(.any).respond(with: .echo)
        let recorder = ExchangeRecorder(network, maximumBodySize: 4)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
        try Data("0123456789".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let stream = HTTPBody.Stream(InputStream(data: Data("0123456789".utf8)))
        let bodies: [HTTPBody] = [.data(Data("0123456789".utf8)), .file(file), .stream(stream)]
        for body in bodies {
            let content = try await post(body).fetch(on: client(recorder))
            #expect(content == Data("0123456789".utf8))
        }

        for exchange in recorder.exchanges {
            #expect(exchange.request.text == "0123" && exchange.requestBodySize == 10)
            #expect(exchange.response?.text == "0123" && exchange.response?.bodySize == 10)
            #expect(exchange.response?.isComplete == false)
        }
    }

    /// A transport that reads ten bytes of the content, and ends.
    private final class SippingTransport: HTTPTransport {
        let capabilities: TransportCapabilities = []

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        )
            -> any TransferHandle
        {
            var buffer = [UInt8](repeating: 0, count: 10)
            if let stream = try? request.body.content.open() {
                stream.open()
                _ = stream.read(&buffer, maxLength: buffer.count)
                stream.close()
            }
            receive(.end(RequestError(.connectionLost, phase: .sending)))
            return ManualTransport().send(request, receive: { _ in })
        }
    }

    @Test func streamIsRecordedAsFarAsItIsRead() throws {
        let recorder = ExchangeRecorder(SippingTransport(), maximumBodySize: 4)
        let stream = HTTPBody.Stream { InputStream(data: Data(repeating: 0x61, count: 1 << 20)) }

        for _ in 0..<2 { _ = recorder.send(TransportRequest(post(.stream(stream)))) { _ in } }

        #expect(recorder.exchanges.map(\.request.text) == ["aaaa", "aaaa"])
        #expect(recorder.exchanges.map(\.requestBodySize) == [10, 10])
    }

    @Test func cancellationStopsRecordingOfStream() async throws {
        let server = try MockServer()
        server.route(.post, "/items", .never.early)
        let recorder = ExchangeRecorder(maximumBodySize: 100)
        let size = 64 << 20
        let body = HTTPBody.stream(HTTPBody.Stream { InputStream(data: Data(count: size)) })
        let ended = Gate()

        let request = HTTPRequest(url: server.url("/items"), method: .post, body: body)
        let transfer = recorder.send(TransportRequest(request)) { event in
            if case .end = event { ended.open() }
        }
        try await server.awaitRequest()
        transfer.cancel()
        try await ended.wait()

        let exchange = try #require(recorder.exchanges.first)
        #expect(exchange.error?.code == .cancelled)
        #expect(exchange.request.body.count <= 100 && exchange.requestBodySize < size)
    }

    @Test func exchangesAreInSendingOrder() async throws {
        let (reached, first) = (Gate(), Gate())
        defer { first.open() }
        let network = InMemoryTransport { request in
            guard request.url.path == "/1" else { return .json("2") }
            reached.open()
            return .json("1").held(by: first)
        }
        let recorder = ExchangeRecorder(network)
        let one = Task { try await HTTPRequest("/1").fetch(on: client(recorder)) }
        try await reached.wait()

        _ = try await HTTPRequest("/2").fetch(on: client(recorder))
        #expect(recorder.exchanges.map(\.request.path) == ["/2"])
        first.open()
        _ = try await one.value

        #expect(recorder.exchanges.map(\.request.path) == ["/1", "/2"])
    }

    @Test func redirectsAndFailuresAreRecorded() async throws {
        let network = HTTPStubber()
        network.stub(.path("/old")).respond(with: .redirect(to: "/new"))
        network.stub(.path("/new")).respond(with: .text("here"))
        network.stub(.path("/cut")).respond(with: .text("0123456789").reset(after: 3))
        network.stub(.path("/off")).respond(with: .offline)
        let recorder = ExchangeRecorder(network)

        _ = try await HTTPRequest("/old").fetch(on: client(recorder))
        for path in ["/cut", "/off"] {
            await #expect(throws: RequestError.self) {
                try await HTTPRequest { $0.path = "\(raw: path)" }.fetch(on: client(recorder))
            }
        }

        let exchanges = recorder.exchanges
        #expect(
            exchanges.map(\.description) == [
                "GET https://api.example.com/old: 302 Found",
                "GET https://api.example.com/new: 200 OK",
                "GET https://api.example.com/cut: 200 OK, connectionLost",
                "GET https://api.example.com/off: offline",
            ]
        )
        #expect(exchanges.dropFirst(2).first?.response?.text == "012")
    }

    @Test func clockProvidesTimesTransportLacks() async throws {
        let clock = ManualClock()
        let (reached, gate) = (Gate(), Gate())
        defer { gate.open() }
        let network = InMemoryTransport { _ in
            reached.open()
            return .json("1").held(by: gate)
        }
        let start = Date(timeIntervalSince1970: 1_000_000)
        let recorder = ExchangeRecorder(network, clock: clock, now: { start })
        let fetch = Task { try await HTTPRequest("/").fetch(on: client(recorder)) }
        try await reached.wait()

        clock.advance(by: .milliseconds(1500))
        gate.open()
        _ = try await fetch.value

        let metrics = try #require(recorder.exchanges.first?.metrics)
        #expect(metrics.start == start && metrics.end == .milliseconds(1500))
        let text = String(decoding: recorder.archive.data(), as: UTF8.self)
        #expect(text.contains(#""startedDateTime" : "1970-01-12T13:46:40.000Z""#))
        #expect(text.contains(#""time" : 1500"#))
    }

    @Test func removedExchangeDoesNotReappear() async throws {
        let (reached, gate) = (Gate(), Gate())
        defer { gate.open() }
        let network = InMemoryTransport { request in
            guard request.url.path == "/late" else { return .json("2") }
            reached.open()
            return .json("1").held(by: gate)
        }
        let recorder = ExchangeRecorder(network)
        let late = Task { try await HTTPRequest("/late").fetch(on: client(recorder)) }
        try await reached.wait()

        recorder.reset()
        _ = try await HTTPRequest("/next").fetch(on: client(recorder))
        gate.open()
        _ = try await late.value

        #expect(recorder.exchanges.map(\.request.path) == ["/next"])
    }

    @Test func unfinishedExchangeIsNotArchived() async throws {
        let (reached, gate) = (Gate(), Gate())
        defer { gate.open() }
        let network = HTTPStubber()
        network.stub(.path("/late")).respond { _ in
            reached.open()
            try await gate.wait()
            return .text("late")
        }
        network.stub().respond(with: .text("next"))
        let recorder = ExchangeRecorder(network)
        let late = Task { try await HTTPRequest("/late").fetch(on: client(recorder)) }
        try await reached.wait()
        _ = try await HTTPRequest("/next").fetch(on: client(recorder))

        #expect(recorder.archive.exchanges.map(\.request.path) == ["/next"])
        gate.open()
        _ = try await late.value
        #expect(recorder.archive.exchanges.map(\.request.path) == ["/late", "/next"])
    }

    @Test func parallelRecordersAreIndependent() async throws {
        let server = try MockServer { .text($0.path) }
        try await withThrowingTaskGroup(of: [String?].self) { group in
            for number in 0..<8 {
                group.addTask {
                    let recorder = ExchangeRecorder()
                    let client = HTTPClient(baseURL: server.url, transport: recorder)
                    for step in 0..<10 {
                        _ = try await HTTPRequest { $0.path = "/\(number)/\(step)" }.fetch(on: client)
                    }
                    let expected = (0..<10).map { "/\(number)/\($0)" }
                    #expect(recorder.exchanges.map(\.request.path) == expected)
                    return recorder.exchanges.map(\.response?.text)
                }
            }
            for try await texts in group { #expect(Set(texts).count == 10) }
        }
    }
}

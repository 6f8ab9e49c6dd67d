// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// The snippets of *WebSockets*.
@Suite(.bounded) struct WebSocketsArticleTests {
    struct Orders: WebSocketRequest {
        typealias Success = Int

        let server: URL
        let kitchen: String
        let protocols = ["orders.v1"]

        var identifier: String { "orders of \(kitchen)" }

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(Result { try HTTPRequest("kitchens/\(kitchen)/orders").toURLRequest(baseURL: server) })
        }

        func process(_ socket: WebSocket) async throws -> Int {
            var count = 0
            for try await _ in socket.messages { count += 1 }
            return count
        }
    }

    private let server: MockServer
    private let client: HTTPClient
    private let room = 7

    init() throws {
        server = try MockServer()
        client = HTTPClient(baseURL: server.url)
        server.route(
            .get,
            "/kitchens/north/orders",
            .webSocket(protocol: "orders.v1") { socket in
                try socket.send("soup")
                try socket.send("stew")
                socket.close(code: .goingAway)
            }
        )
    }

    @Test func socketClosesChatRoom() async throws {
        server.route(
            .get,
            "/rooms/7",
            .webSocket(protocol: "chat.v2") { socket in
                _ = socket.receive()
                for text in ["welcome", "bye", "unread"] { try socket.send(text) }
            }
        )

        let socket = try await client.webSocket("rooms/\(room)", protocols: ["chat.v2"])
        try await socket.send("hello")
        for try await message in socket.messages {
            if message.text == "bye" { break }
        }
        await socket.close()

        #expect(socket.negotiatedProtocol == "chat.v2")
    }

    @Test func handshakeIncludesRequestFields() async throws {
        server.route(.get, "/feed", .webSocket { try $0.echo() })

        let request = HTTPRequest("feed").headers(["X-Device": "kitchen"]).timeout(.seconds(20))
        let socket = try await client.webSocket(request)

        await socket.close()
        #expect(server.requests.first?.headers["X-Device"] == "kitchen")
    }

    @Test func ordersAreCounted() async throws {
        let queue = OperationQueue()
        let orders = client.addRequest(Orders(server: server.url, kitchen: "north"))
        let report = BlockOperation { if case .success(let count)? = orders.result { print(count) } }
        report.addDependency(orders)
        queue.addOperation(report)

        #expect(try await orders.value() == 2)
        try await eventually { report.isFinished }
    }

    func follow(
        _ client: HTTPClient,
        by policy: RetryPolicy = .default,
        _ receive: (WebSocket.Message) async throws -> Void
    ) async throws {
        var (failures, last, isReceiving) = (0, "", false)
        while true {
            do {
                let socket = try await client.webSocket("feed?after=\(last)")
                for try await message in socket.messages {
                    isReceiving = true
                    try await receive(message)
                    // Only after `receive`, because a message that it hasn't processed must be sent again.
                    (failures, last, isReceiving) = (0, message.text ?? last, false)
                }
                switch socket.closeCode {
                case .normalClosure?, .noStatusReceived?:
                    return
                case .goingAway?, .internalError?, .serviceRestart?, .tryAgainLater?:
                    throw RequestError(.connectionLost, phase: .receiving, reason: "the server closed the feed for now")
                case let code:
                    throw RequestError(
                        .closed,
                        phase: .receiving,
                        reason: "the server closed the feed: \(code?.description ?? "")"
                    )
                }
            } catch let error as RequestError where !isReceiving {
                failures += 1
                let decision = policy.decision(about: error, of: HTTPRequest("feed"), attempt: failures)
                guard case .retry(let wait) = decision else { throw error }
                try await Task.sleep(for: wait)
            }
        }
    }

    @Test func feedContinuesAcrossSockets() async throws {
        server.enqueue(
            .webSocket { socket in
                try socket.send("1")
                try socket.send("2")
                socket.disconnect()
            },
            .webSocket { socket in
                try socket.send("3")
                socket.close(code: .goingAway)
            },
            .webSocket { try $0.send("4") }
        )

        var texts: [String?] = []
        try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { texts.append($0.text) }

        #expect(texts == ["1", "2", "3", "4"])
        #expect(server.requests.map(\.target) == ["/feed?after=", "/feed?after=2", "/feed?after=3"])
    }

    @Test func unavailableFeedFailsAfterRetries() async throws {
        server.stop()

        await #expect(throws: RequestError.self) {
            try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { _ in }
        }
    }

    /// The feed is cut before, within and after its messages, and during the handshake.
    @Test func feedLosesAndDuplicatesNoMessages() async throws {
        let (total, cuts, random) = (Scale.pick(100, whole: 3000), Locked(0), Locked(SeededRandom(Fuzz.seed)))
        server.route(.get, "/feed") { request in
            let after = Int(request.target.split(separator: "=").dropFirst().first ?? "") ?? 0
            let (count, end) = random.withLock { random in
                (Int.random(in: 0...5, using: &random), Int.random(in: 0..<10, using: &random))
            }
            cuts.withLock { $0 += 1 }
            if end == 7 { return .status(.serviceUnavailable) }
            if end == 8 { return .reset }
            if end == 9 { return .closed }
            return .webSocket { socket in
                for number in (after + 1..<after + 1 + count).clamped(to: 1..<total + 1) {
                    try socket.send("\(number)")
                }
                guard after + count < total else { return socket.close() }
                switch end {
                case 0: socket.disconnect()
                case 1: socket.reset()
                case 2:
                    // The beginning of a text of ten bytes.
                    try socket.send(bytes: Data([0x81, 0x0A, 0x31]))
                    socket.disconnect()
                case 3: socket.close(code: .goingAway)
                case 4: socket.close(code: .internalError)
                case 5: socket.close(code: .serviceRestart)
                default: socket.close(code: .tryAgainLater)
                }
            }
        }

        var texts: [String?] = []
        try await follow(client, by: RetryPolicy(limit: 1000, backoff: .none)) { texts.append($0.text) }

        #expect(texts == (1...total).map(String.init), "seed \(Fuzz.seed)")
        #expect(cuts.withLock(\.self) > total / 3)
        if Scale.isWhole { print("\(cuts.withLock(\.self)) cuts of a feed of \(total) messages") }
    }

    @Test func unreceivedMessageFails() async throws {
        server.enqueue(
            .webSocket { socket in
                for text in ["1", "2", "3"] { try socket.send(text) }
                socket.close(code: .goingAway)
            }
        )

        var texts: [String?] = []
        let error = await #expect(throws: RequestError.self) {
            try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { message in
                if message.text == "2" { throw RequestError(.cannotConnect, phase: .sending) }
                texts.append(message.text)
            }
        }

        #expect(error?.code == .cannotConnect && texts == ["1"] && server.requestCount == 1)
    }

    @Test(arguments: [(1001, 3), (1011, 3), (1012, 3), (1013, 3), (1008, 1), (4000, 1)])
    func closeCodeDeterminesReconnection(code: UInt16, connections: Int) async throws {
        server.route(.get, "/feed", .webSocket { $0.close(code: WebSocket.CloseCode(rawValue: code)) })

        await #expect(throws: RequestError.self) {
            try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { _ in }
        }

        #expect(server.requestCount == connections)
    }

    @Test func binaryMessageDoesNotResetPosition() async throws {
        server.enqueue(
            .webSocket { socket in
                try socket.send("1")
                try socket.send(.data(Data([1])))
                socket.close(code: .goingAway)
            },
            .webSocket { $0.close() }
        )

        try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { _ in }

        #expect(server.requests.map(\.target) == ["/feed?after=", "/feed?after=1"])
    }
}

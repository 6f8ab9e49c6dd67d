// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
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

    @Test func roomIsLeft() async throws {
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

    @Test func requestHasFields() async throws {
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
        var (failures, last) = (0, "")
        while true {
            do {
                let socket = try await client.webSocket("feed?after=\(last)")
                for try await message in socket.messages {
                    (failures, last) = (0, message.text ?? "")
                    try await receive(message)
                }
                guard socket.closeCode == .goingAway || socket.closeCode == .serviceRestart else { return }
                failures += 1
            } catch let error as RequestError where error.isConnectivityError {
                failures += 1
                guard failures <= policy.limit else { throw error }
            }
            try await Task.sleep(for: policy.backoff.delay(before: failures))
        }
    }

    @Test func feedIsFollowedOverSeveralSockets() async throws {
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

    @Test func feedThatStaysAwayIsGivenUp() async throws {
        server.stop()

        await #expect(throws: RequestError.self) {
            try await follow(client, by: RetryPolicy(limit: 2, backoff: .none)) { _ in }
        }
    }
}

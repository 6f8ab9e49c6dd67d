// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

@Suite(.bounded) struct WebSocketTimeTests {
    private let server: MockServer
    private let closed = Recorder<WebSocket.CloseCode?>()
    private let client: HTTPClient

    init() throws {
        server = try MockServer()
        client = HTTPClient(baseURL: server.url)
        server.route(
            .get,
            "/silent",
            .webSocket { [closed] socket in
                socket.awaitClose()
                closed.record(socket.closeCode)
            }
        )
    }

    @Test func clientDeadlineDoesNotApplyToOpenSocket() async throws {
        let clock = ManualClock()
        let client = client.inheriting { ($0.clock, $0.deadline) = (clock, .seconds(10)) }
        server.route(.get, "/echo", .webSocket { try $0.echo() })

        let socket = try await client.webSocket("echo")
        clock.advance(by: .seconds(15))
        try await socket.send("hello")

        #expect(try await socket.next(1) == [.text("hello")])
        await socket.close()
    }

    @Test func clientDeadlineAppliesToHandshake() async throws {
        let clock = ManualClock()
        let client = client.inheriting { ($0.clock, $0.deadline) = (clock, .seconds(10)) }
        server.route(.get, "/never", .never)

        let socket = Task { try await client.webSocket("never") }
        try await server.awaitRequest()
        clock.advance(by: .seconds(11))

        let error = await #expect(throws: RequestError.self) { try await socket.value }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func requestDeadlineAppliesToSocket() async throws {
        let (clock, isOpen) = (ManualClock(), Gate())
        let client = client.inheriting { $0.clock = clock }
        var feed = Feed(path: "silent") { socket in
            isOpen.open()
            return try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") }
        }
        feed.options.deadline = .seconds(10)

        let operation = client.addRequest(feed)
        try await isOpen.wait()
        clock.advance(by: .seconds(11))

        let error = await #expect(throws: RequestError.self) { try await operation.value() }
        #expect(error?.code == .deadlineExceeded)
        #expect(await closed.first(1) == [.goingAway])
    }

    @Test func idlePeerIsPingedAndStaysConnected() async throws {
        let clock = ManualClock()
        let client = client.inheriting { ($0.clock, $0.timeout) = (clock, .seconds(30)) }
        server.route(
            .get,
            "/pings",
            .webSocket { socket in
                // Sent after the pong, so that the client has received the pong as well.
                socket.onPing = { [unowned socket] _ in try? socket.send("pinged") }
                socket.awaitClose()
            }
        )

        let socket = try await client.webSocket("pings")
        for _ in 0..<12 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            #expect(try await socket.next(1) == [.text("pinged")])
        }

        #expect(socket.closeCode == nil)
        await socket.close()
    }

    @Test func unresponsivePeerTimesOut() async throws {
        let clock = ManualClock()
        let client = client.inheriting { ($0.clock, $0.timeout) = (clock, .seconds(30)) }
        server.route(.get, "/deaf", .webSocket { $0.ignore() })

        let socket = try await client.webSocket("deaf")
        let message = Task { try await socket.next(1) }
        try await eventually {
            clock.advance(by: .seconds(10))
            return server.openConnections == 0
        }

        let error = await #expect(throws: RequestError.self) { try await message.value }
        #expect(error?.code == .timedOut)
        try await eventually { socket.closeCode == .abnormalClosure }
    }
}

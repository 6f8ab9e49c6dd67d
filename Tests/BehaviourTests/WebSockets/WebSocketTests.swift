// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

@Suite(.bounded) struct WebSocketTests {
    @Test func messagesAreEchoedInOrder() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }
        let client = HTTPClient(baseURL: server.url)
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let sent: [WebSocket.Message] = [
            .text("hello"), .data(Data([1, 2, 3])), .text(""), .data(Data()), .data(large),
            .text(String(repeating: "grüße ", count: 20_000)),
        ]

        let socket = try await client.webSocket("echo")
        let sending = Task { for message in sent { try await socket.send(message) } }
        let received = try await socket.next(sent.count)
        try await sending.value
        await socket.close()

        #expect(received == sent)
        #expect(socket.closeCode == .normalClosure)
        #expect(socket.negotiatedProtocol == nil)
        #expect(socket.head.status == .switchingProtocols)
    }

    @Test func messagesBeforeCloseAreDelivered() async throws {
        let server = try MockServer { _ in
            .webSocket { socket in
                try socket.send("one")
                try socket.send("two")
                socket.close(code: WebSocket.CloseCode(rawValue: 4001), reason: "enough")
            }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("feed")
        #expect(socket.closeCode == nil || socket.closeCode?.rawValue == 4001)
        let texts = try await socket.messages.reduce(into: []) { $0.append($1.text) }

        #expect(texts == ["one", "two"])
        #expect(socket.closeCode == WebSocket.CloseCode(rawValue: 4001))
        #expect(socket.closeReason == "enough")
        await #expect(throws: RequestError.self) { try await socket.send("late") }
        #expect(try await socket.next(1) == [])
        try await server.awaitConnections(open: 0)
    }

    @Test(arguments: [
        (WebSocket.CloseCode.normalClosure, "", 1000), (.goingAway, "done", 1001),
        (WebSocket.CloseCode(rawValue: 4999), "own", 4999), (.abnormalClosure, "never sent", 1005),
    ])
    func closeSendsCodeAndReason(_ code: WebSocket.CloseCode, _ reason: String, _ seen: UInt16) async throws {
        let closed = Recorder<(WebSocket.CloseCode?, String?, String?)>()
        let server = try MockServer { _ in
            .webSocket { socket in
                socket.awaitClose()
                closed.record((socket.closeCode, socket.closeReason, socket.violation))
            }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        await socket.close(code: code, reason: reason)
        await socket.close(code: .internalError, reason: "too late")

        let (seenCode, seenReason, violation) = await closed.first(1)[0]
        #expect(seenCode?.rawValue == seen)
        #expect(seenReason == (seen == 1005 ? "" : reason))
        #expect(violation == nil)
        #expect(socket.closeCode?.rawValue == seen)
    }

    @Test func longReasonIsTruncatedAtCharacterBoundary() async throws {
        let closed = Recorder<String?>()
        let server = try MockServer { _ in
            .webSocket { socket in
                socket.awaitClose()
                closed.record(socket.closeReason)
            }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        await socket.close(reason: String(repeating: "ü", count: 100))

        #expect(await closed.first(1) == [String(repeating: "ü", count: 61)])
    }

    @Test func pingCompletesWithPong() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        try await socket.ping()
        async let first: Void = socket.ping()
        async let second: Void = socket.ping()
        _ = try await (first, second)
        await socket.close()

        await #expect(throws: RequestError.self) { try await socket.ping() }
    }

    @Test func serverPingGetsPongWithPayload() async throws {
        let counts = Recorder<Int>()
        let server = try MockServer { _ in
            .webSocket { socket in
                try socket.ping(Data("payload".utf8))
                _ = socket.receive()
                counts.record(socket.pongCount)
            }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        try await socket.ping()
        try await socket.send("go on")

        #expect(await counts.first(1) == [1])
    }

    @Test func secondLoopContinuesAfterFirst() async throws {
        let server = try MockServer { _ in
            .webSocket { socket in for text in ["a", "b", "c"] { try socket.send(text) } }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        var texts: [String?] = []
        for try await message in socket.messages {
            texts.append(message.text)
            break
        }
        for try await message in socket.messages { texts.append(message.text) }

        #expect(texts == ["a", "b", "c"])
    }

    @Test func concurrentReaderIsRejected() async throws {
        let (gate, waits) = (Gate(), Gate())
        let server = try MockServer { _ in
            .webSocket { socket in
                try socket.wait(for: gate)
                try socket.send("hello")
            }
        }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do { return try await socket.next(1).first?.text ?? "" } catch {
                        waits.open()
                        return (error as? RequestError)?.code.name ?? ""
                    }
                }
            }
            try? await waits.wait()
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(codes.sorted() == ["alreadyConsumed", "hello"])
    }

    @Test func cancelledLoopKeepsSocketOpen() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")
        let loop = Task { try await socket.next(1) }
        loop.cancel()
        let error = await #expect(throws: RequestError.self) { try await loop.value }
        try await socket.send("still here")

        #expect(error?.code == .cancelled)
        #expect(try await socket.next(1) == [.text("still here")])
    }

    @Test func deallocatedSocketClosesAsGoingAway() async throws {
        let closed = Recorder<WebSocket.CloseCode?>()
        let server = try MockServer { _ in
            .webSocket { socket in
                socket.awaitClose()
                closed.record(socket.closeCode)
            }
        }
        let client = HTTPClient(baseURL: server.url)

        do { _ = try await client.webSocket("") }

        #expect(await closed.first(1) == [.goingAway])
        try await eventually { client.operations.isEmpty }
    }

    @Test func messageLoopRetainsSocket() async throws {
        let gate = Gate()
        let server = try MockServer { _ in
            .webSocket { socket in
                try socket.wait(for: gate)
                try socket.send("late")
            }
        }

        let messages = try await HTTPClient(baseURL: server.url).webSocket("").messages
        let texts = Task { try await messages.reduce(into: []) { $0.append($1.text) } }
        gate.open()

        #expect(try await texts.value == ["late"])
    }
}

extension WebSocket {
    /// The next messages, fewer if the socket is closed.
    func next(_ count: Int) async throws -> [WebSocket.Message] {
        var received: [WebSocket.Message] = []
        var iterator = messages.makeAsyncIterator()
        while received.count < count, let message = try await iterator.next() { received.append(message) }
        return received
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// Peers that violate the protocol or stall. Each causes one typed error, and uses little memory.
@Suite(.bounded) struct WebSocketHostilityTests {
    private let server: MockServer
    private let closed = Recorder<WebSocket.CloseCode?>()

    init() throws {
        server = try MockServer()
    }

    /// Opens a socket whose peer runs a script, and then waits until the client closes.
    private func socket(
        _ configure: (inout RequestEnvironment) -> Void = { _ in },
        _ script: @escaping @Sendable (MockWebSocket) throws -> Void
    ) async throws -> WebSocket {
        let closed = closed
        server.route(
            .get,
            "/",
            .webSocket { socket in
                try? script(socket)
                socket.awaitClose()
                closed.record(socket.closeCode)
            }
        )
        return try await HTTPClient(baseURL: server.url, configure).webSocket("")
    }

    private func endOfMessages(_ socket: WebSocket) async -> RequestError? {
        do {
            for try await _ in socket.messages {}
            return nil
        } catch {
            return error as? RequestError
        }
    }

    static let violations: [(name: String, bytes: [UInt8], code: UInt16)] = [
        ("a frame of 2^63 bytes", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
        ("a frame of 2^62 bytes", [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0], 1009),
        ("a masked frame", [0x81, 0x81, 0, 0, 0, 0, 65], 1002), ("a reserved bit", [0xC1, 0], 1002),
        ("an unknown opcode", [0x83, 0], 1002), ("a text that is none", [0x81, 1, 0xFF], 1007),
        ("a close frame with half a code", [0x88, 1, 3], 1002), ("HTTP", Array("HTTP/1.1 200 OK\r\n\r\n".utf8), 1002),
    ]

    @Test(arguments: violations) func protocolViolationClosesWithItsCode(
        _ violation: (name: String, bytes: [UInt8], code: UInt16)
    ) async throws {
        let socket = try await socket { try $0.send(bytes: Data(violation.bytes)) }

        let error = await endOfMessages(socket)

        #expect(error?.code == .badResponse)
        #expect(error?.reason?.isEmpty == false)
        #expect(await closed.first(1).first??.rawValue == violation.code)
        #expect(socket.closeCode?.rawValue == violation.code)
        try await server.awaitConnections(open: 0)
    }

    @Test func violationAfterHandshakeHeadIsDetected() async throws {
        let bytes = Data([0x83, 0])
        server.route(.get, "/", .webSocket { try $0.send(bytes: bytes) })

        let socket = try await HTTPClient(baseURL: server.url).webSocket("")

        #expect(await endOfMessages(socket)?.code == .badResponse)
    }

    @Test func oversizedMessageIsRejected() async throws {
        struct Small: WebSocketRequest {
            typealias Success = Void
            let url: URL
            var maximumMessageSize: Int { 1000 }
            var identifier: String { "small" }
            func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                completion(.success(URLRequest(url: url)))
            }
            func process(_ socket: WebSocket) async throws { for try await _ in socket.messages {} }
        }
        let closed = closed
        server.route(
            .get,
            "/",
            .webSocket { socket in
                try socket.send(.data(Data(count: 1000)))
                try socket.send(.data(Data(count: 1001)))
                socket.awaitClose()
                closed.record(socket.closeCode)
            }
        )

        let error = await #expect(throws: (any Error).self) {
            try await OperationQueue().fetch(Small(url: server.url("/")))
        }

        #expect((error as? RequestError)?.code == .badResponse)
        #expect(await closed.first(1) == [.messageTooBig])
    }

    @Test func missingClosingHandshakeIsConnectionLoss() async throws {
        let socket = try await socket { socket in
            try socket.send("last")
            socket.disconnect()
        }

        #expect(try await socket.next(1) == [.text("last")])
        #expect(await endOfMessages(socket)?.code == .connectionLost)
        #expect(socket.closeCode == .abnormalClosure)
        let error = await #expect(throws: RequestError.self) { try await socket.send("late") }
        #expect(error?.code == .connectionLost)
    }

    @Test(arguments: 0..<12) func truncatedFrameIsConnectionLoss(_ count: Int) async throws {
        let frame = Data([0x81, 126, 0, 200]) + Data(repeating: 65, count: 200)
        let socket = try await socket { socket in
            try socket.send(bytes: frame.prefix(count))
            if count.isMultiple(of: 2) { socket.reset() } else { socket.disconnect() }
        }

        #expect(await endOfMessages(socket)?.code == .connectionLost)
    }

    @Test func manyFragmentsFormOneMessage() async throws {
        let socket = try await socket { socket in
            var bytes: [UInt8] = []
            for number in 0..<10_000 {
                let opcode: WebSocketFrame.Opcode = number == 0 ? .text : .continuation
                WebSocketFrame(opcode, Data("a".utf8), isFinal: number == 9_999).append(to: &bytes)
            }
            try socket.send(bytes: Data(bytes))
        }

        #expect(try await socket.next(1) == [.text(String(repeating: "a", count: 10_000))])
        await socket.close()
    }

    @Test func socketSurvivesPingFlood() async throws {
        let pongs = Recorder<Int>()
        let socket = try await socket { socket in
            var bytes: [UInt8] = []
            for _ in 0..<20_000 { WebSocketFrame.ping(Data(count: 125)).append(to: &bytes) }
            try socket.send(bytes: Data(bytes))
            socket.awaitClose()
            pongs.record(socket.pongCount)
        }

        try await socket.send("hello")
        try await socket.ping()
        await socket.close()

        #expect(await pongs.first(1)[0] > 0)
    }

    // MARK: Back-pressure

    @Test func stalledPeerSuspendsSender() async throws {
        let gate = Gate()
        let (received, total) = (Recorder<Int>(), Scale.pick(32, whole: 64))
        let socket = try await socket { socket in
            try socket.wait(for: gate)
            var count = 0
            while count < total, socket.receive() != nil { count += 1 }
            received.record(count)
        }
        let sent = Recorder<Int>()

        let sending = Task {
            for number in 0..<total {
                try await socket.send(Data(count: 1 << 20))
                sent.record(number)
            }
        }
        await sent.first(1)
        try await quiet { sent.count }
        // The system's buffers hold a few MiB.
        #expect(sent.count < total * 3 / 4)
        gate.open()
        try await sending.value

        #expect(await received.first(1) == [total])
        await socket.close()
    }

    @Test func slowPeerDoesNotTimeOut() async throws {
        let (clock, gates, count) = (ManualClock(), (0..<8).map { _ in Gate() }, Scale.pick(3, whole: 8))
        let socket = try await socket {
            ($0.clock, $0.timeout) = (clock, .seconds(30))
        } _: { socket in
            for gate in gates {
                try socket.wait(for: gate)
                for _ in 0..<count { _ = socket.receive() }
            }
        }
        let sent = Recorder<Int>()
        let sending = Task {
            for number in 0..<8 * count {
                try await socket.send(Data(count: 1 << 20))
                sent.record(number)
            }
        }

        await sent.first(1)
        for (round, gate) in gates.enumerated() {
            clock.advance(by: .seconds(10))
            gate.open()
            await sent.first(count * (round + 1))
        }
        try await sending.value

        #expect(socket.closeCode == nil)
        await socket.close()
    }

    @Test func cancelledSendTransmitsNothing() async throws {
        let gate = Gate()
        let sizes = Recorder<[Int]>()
        let socket = try await socket { socket in
            try socket.wait(for: gate)
            var seen: [Int] = []
            while let message = socket.receive(), message.data.count != 3 { seen.append(message.data.count) }
            sizes.record(seen)
        }

        // The first message fills all buffers, and is accepted immediately.
        let size = Scale.pick(16, whole: 32) << 20
        try await socket.send(Data(count: size))
        let waiting = Task { try await socket.send(Data(count: 7)) }
        waiting.cancel()
        let error = await #expect(throws: RequestError.self) { try await waiting.value }
        gate.open()
        try await socket.send("end")

        #expect(error?.code == .cancelled)
        #expect(await sizes.first(1) == [[size]])
        await socket.close()
    }

    @Test func slowReaderAppliesBackpressure() async throws {
        let sent = Recorder<Int>()
        let socket = try await socket { socket in
            for number in 0..<64 {
                try socket.send(.data(Data(count: 1 << 20)))
                sent.record(number)
            }
        }

        await sent.first(1)
        try await quiet { sent.count }
        #expect(sent.count < 48)
        #expect(try await socket.next(64).map(\.data.count) == Array(repeating: 1 << 20, count: 64))
        await socket.close()
    }

    @Test(arguments: [true, false]) func slowReaderReceivesAllMessagesBeforeEnd(isClosed: Bool) async throws {
        let (count, sent) = (48, Recorder<Int>())
        let socket = try await socket { socket in
            for number in 0..<count {
                try socket.send(.data(Data(count: 100_000)))
                sent.record(number)
            }
            if isClosed { socket.close(code: .goingAway) } else { socket.disconnect() }
        }

        await sent.first(1)
        try await quiet { sent.count }
        #expect(try await socket.next(count).count == count)
        #expect(await endOfMessages(socket)?.code == (isClosed ? nil : .connectionLost))
        #expect(socket.closeCode == (isClosed ? .goingAway : .abnormalClosure))
    }

    @Test func floodOfEmptyMessagesIsDelivered() async throws {
        let count = Scale.pick(100_000, whole: 400_000)
        let sent = Gate()
        let socket = try await socket { socket in
            try socket.send(bytes: Data(repeating: 0, count: count * 2).alternating(0x82, 0))
            sent.open()
        }

        #expect(try await socket.next(count).count == count)
        await socket.close()
    }

    /// Waits until a count hasn't changed for a while.
    private func quiet(_ count: () -> Int) async throws {
        var (last, rounds) = (-1, 0)
        while rounds < 10 {
            rounds = count() == last ? rounds + 1 : 0
            last = count()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func stoppedServerEndsSocketsAndOperations() async throws {
        let client = HTTPClient(baseURL: server.url)
        server.route(.get, "/", .webSocket { $0.awaitClose() })
        var sockets: [WebSocket] = []
        for _ in 0..<8 { sockets.append(try await client.webSocket("")) }

        server.stop()

        for socket in sockets { #expect(await endOfMessages(socket)?.code == .connectionLost) }
        try await eventually { client.operations.isEmpty }
    }
}

extension Data {
    fileprivate func alternating(_ even: UInt8, _ odd: UInt8) -> Data {
        Data((0..<count).map { $0.isMultiple(of: 2) ? even : odd })
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsWebSockets
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct MockServerStopTests {
    static let endless: [StubResponse] = [
        .never,
        .text("late").delayed(by: .seconds(3600)),
        .text("late").held(by: Gate()),
        .text("a drop").dripping(every: .seconds(3600)),
        // More than the buffers of both sides hold, so that the server is in the middle of a write.
        .data(Data(count: Scale.pick(16, whole: 64) << 20)),
    ]

    @Test(arguments: endless.indices)
    func stopEndsOngoingResponses(index: Int) async throws {
        let server = try MockServer { _ in Self.endless[index] }
        let client = try RawClient(port: server.port)
        client.get("/")
        try await server.awaitRequest()

        server.stop()

        #expect(server.openConnections == 0)
        _ = client.readToEnd()
    }

    private static let handshake = """
        Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n
        """

    /// The client reads all at once, so that the script doesn't wait for the socket.
    @Test func stopEndsFloodingWebSocketScript() async throws {
        let flooded = Gate()
        let server = try MockServer()
        server.route(
            .get,
            "/",
            .webSocket { socket in
                for count in 0... {
                    try socket.send("")
                    if count == 1000 { flooded.open() }
                }
            }
        )
        let port = server.port
        Thread.detachNewThread {
            guard let client = try? RawClient(port: port) else { return }
            client.get("/", fields: Self.handshake)
            _ = client.readToEnd()
        }
        try await flooded.wait()

        server.stop()

        #expect(server.openConnections == 0)
    }

    /// There is usually something to read, so that the script doesn't wait for the socket.
    @Test func stopEndsWebSocketWithFloodingClient() async throws {
        let (flooded, errors) = (Gate(), Recorder<String>())
        let server = try MockServer()
        server.route(
            .get,
            "/",
            .webSocket { socket in
                guard socket.receive() != nil else { return }
                flooded.open()
                socket.awaitClose()
                do { try socket.send("late") } catch { errors.record("\(error)") }
            }
        )
        let port = server.port
        Thread.detachNewThread {
            guard let client = try? RawClient(port: port) else { return }
            client.get("/", fields: Self.handshake)
            _ = client.read(upTo: "\r\n\r\n")
            var machine = WebSocketMachine(.client)
            for _ in 0..<1000 { machine.send(.text("")) }
            let texts = machine.takeAll()
            while client.send(texts) {}
        }
        try await flooded.wait()

        server.stop()

        #expect(server.openConnections == 0)
        #expect(errors.elements == ["the client has disconnected, or the server was stopped"])
    }

    @Test func stopEndsHandlerWaitingOnGate() async throws {
        let gate = Gate()
        let server = try MockServer { _ in
            try gate.wait()
            return .text("open")
        }
        let client = try RawClient(port: server.port)
        client.get("/")
        try await server.awaitRequest()

        server.stop()

        #expect(server.openConnections == 0)
        #expect(!gate.isOpen)
    }

    @Test func stopIsIdempotentAndClosesConnections() throws {
        let server = try MockServer { _ in .text("fine") }
        let client = try RawClient(port: server.port)
        client.get("/")
        _ = client.read(upTo: "fine")

        server.stop()
        server.stop()

        #expect(client.readToEnd() == "")
        #expect(throws: MockConnectionRefused.self) { try RawClient(port: server.port) }
    }

    @Test func handlerCanStopItsServer() throws {
        let server = try MockServer()
        server.route(.get, "/") { [weak server] _ in
            server?.stop()
            return .text("bye")
        }
        let client = try RawClient(port: server.port)

        client.get("/")

        _ = client.readToEnd()
        server.stop()
        #expect(server.openConnections == 0)
    }

    @Test func releasingServerStopsIt() throws {
        var server: MockServer? = try MockServer { _ in .never }
        let port = try #require(server?.port)
        let client = try RawClient(port: port)
        client.get("/")

        server = nil

        _ = client.readToEnd()
        #expect(throws: MockConnectionRefused.self) { try RawClient(port: port) }
    }

    static let patient: [StubResponse] = [
        .never, .text("held").held(by: Gate()), .text("late").delayed(by: .seconds(3600)),
    ]

    @Test(arguments: patient.indices)
    func clientDisconnectEndsConnection(index: Int) async throws {
        let server = try MockServer { _ in Self.patient[index] }
        var client: RawClient? = try RawClient(port: server.port)
        client?.get("/")
        try await server.awaitRequest()
        #expect(server.openConnections == 1)

        client = nil

        try await server.awaitConnections(open: 0)
    }

    #if os(Linux)
    /// Returns the sockets of this process, such as `socket:[4711]`, with their descriptors.
    private func sockets() throws -> [String: Int32] {
        var sockets: [String: Int32] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            if let link, link.hasPrefix("socket:"), let descriptor = Int32(name) { sockets[link] = descriptor }
        }
        return sockets
    }

    private func port(of descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test func stopClosesAllDescriptors() async throws {
        let server = try MockServer { _ in .never }
        let clients = try (0..<8).map { _ in try RawClient(port: server.port) }
        for client in clients { client.get("/") }
        try await server.awaitRequests(8)
        let own = Set(try sockets().filter { port(of: $0.value) == server.port }.keys)
        #expect(own.count == 9)

        server.stop()

        #expect(own.intersection(try sockets().keys) == [])
        withExtendedLifetime(clients) {}
    }
    #endif

    @Test(.tags(.alone)) func repeatedStartAndStopLeaksNoDescriptors() async throws {
        let before = Descriptors.open

        for _ in 0..<Scale.pick(300, whole: 2000) {
            let server = try MockServer()
            server.stop()
        }

        // The descriptor that a server's thread waits for is closed with the thread.
        #expect(try await Descriptors.left(since: before) == [])
    }
}

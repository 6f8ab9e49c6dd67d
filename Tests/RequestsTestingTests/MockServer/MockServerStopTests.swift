// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

@testable import RequestsTesting

@Suite(.timeLimit(.minutes(1))) struct MockServerStopTests {
    static let endless: [MockResponse] = [
        .stalled,
        .text("late").delayed(by: .seconds(3600)),
        .text("late").held(by: Gate()),
        .text("a drop").dripping(every: .seconds(3600)),
        // More than the buffers of both sides hold, so that the server is in the middle of a write.
        .data(Data(count: 64 << 20)),
    ]

    @Test(arguments: endless.indices)
    func stopEndsWhateverAConnectionDoes(index: Int) async throws {
        let server = try MockServer { _ in Self.endless[index] }
        let client = try RawClient(port: server.port)
        client.get("/")
        try await server.awaitRequest()

        server.stop()

        #expect(server.openConnections == 0)
        _ = client.readToEnd()
    }

    @Test func stopEndsTheWaitOfAHandler() async throws {
        let gate = Gate()
        let server = try MockServer { _ in gate.wait() ? .text("open") : .text("stopped") }
        let client = try RawClient(port: server.port)
        client.get("/")
        try await server.awaitRequest()

        server.stop()

        #expect(server.openConnections == 0)
        #expect(!gate.isOpen)
    }

    @Test func stopMayBeRepeatedAndClosesIdleConnectionsAndTheListener() throws {
        let server = try MockServer { _ in .text("fine") }
        let client = try RawClient(port: server.port)
        client.get("/")
        _ = client.read(upTo: "fine")

        server.stop()
        server.stop()

        #expect(client.readToEnd() == "")
        #expect(throws: MockConnectionRefused.self) { try RawClient(port: server.port) }
    }

    @Test func aHandlerMayStopItsServer() throws {
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

    @Test func theLastReferenceStopsTheServer() throws {
        var server: MockServer? = try MockServer { _ in .stalled }
        let port = try #require(server?.port)
        let client = try RawClient(port: port)
        client.get("/")

        server = nil

        _ = client.readToEnd()
        #expect(throws: MockConnectionRefused.self) { try RawClient(port: port) }
    }

    static let patient: [MockResponse] = [
        .stalled, .text("held").held(by: Gate()), .text("late").delayed(by: .seconds(3600)),
    ]

    @Test(arguments: patient.indices)
    func aClientThatLeavesEndsItsConnection(index: Int) async throws {
        let server = try MockServer { _ in Self.patient[index] }
        var client: RawClient? = try RawClient(port: server.port)
        client?.get("/")
        try await server.awaitRequest()
        #expect(server.openConnections == 1)

        client = nil

        try await server.awaitConnections(open: 0)
    }

    #if os(Linux)
    /// The numbers by which the system knows the sockets of a port of the loopback.
    private func sockets(ofPort port: Int) throws -> Set<String> {
        let digits = String(port, radix: 16, uppercase: true)
        let address = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
        let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
        var sockets: Set<String> = []
        for line in table.split(separator: "\n") {
            let columns = line.split(separator: " ").map(String.init)
            guard columns.count > 9, columns[1] == address, columns[9] != "0" else { continue }
            sockets.insert(columns[9])
        }
        return sockets
    }

    @Test func noDescriptorOutlivesTheStop() async throws {
        let server = try MockServer { _ in .stalled }
        let clients = try (0..<8).map { _ in try RawClient(port: server.port) }
        for client in clients { client.get("/") }
        try await server.awaitRequests(8)
        let sockets = try sockets(ofPort: server.port)
        #expect(sockets.count == 9)

        server.stop()

        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(sockets.filter { open.contains("socket:[\($0)]") } == [])
        withExtendedLifetime(clients) {}
    }
    #endif

    @Test func serversThatComeAndGoLeaveNoDescriptorsBehind() throws {
        for _ in 0..<2000 {
            let server = try MockServer()
            server.stop()
        }

        // The lowest free number is used, so that leaks would push it up.
        let probe = dup(0)
        #expect(probe < 2000)
        close(probe)
    }
}

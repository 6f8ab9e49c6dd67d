// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct MockServerConfigurationTests {
    private func server(_ change: (inout MockServer.Configuration) -> Void) throws -> MockServer {
        var configuration = MockServer.Configuration()
        change(&configuration)
        return try MockServer(configuration: configuration) { .text($0.path) }
    }

    @Test func portIsConfigurable() throws {
        let first = try server { _ in }
        let port = first.port
        let error = #expect(throws: SystemError.self) { try server { $0.port = port } }
        #expect(error?.call == "bind" && error?.code == EADDRINUSE)
        first.stop()

        let second = try server { $0.port = port }

        #expect(second.port == port)
        #expect(throws: SystemError.self) { try server { $0.port = 65536 } }
    }

    @Test func lastResponseOnConnectionSaysClose() throws {
        let server = try server { $0.maximumRequestsPerConnection = 2 }
        let client = try RawClient(port: server.port)

        for number in 1...3 { client.get("/\(number)") }

        let answers = client.readToEnd().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(answers.map { $0.contains("Connection: close") } == [false, true])
        #expect(answers.last?.hasSuffix("\r\n\r\n/2") == true)
        #expect(server.requestCount == 2)
    }

    @Test func excessConnectionsWaitForSlot() async throws {
        let server = try server { $0.maximumConnections = 2 }
        var clients = try (0..<5).map { _ in try RawClient(port: server.port) }
        try await server.awaitConnections(open: 2)
        #expect(server.connectionCount == 2)

        for number in 0..<5 {
            clients[0].get("/\(number)", fields: "Connection: close\r\n")
            #expect(clients[0].readToEnd().hasSuffix("\r\n\r\n/\(number)"))
            clients.removeFirst()
            #expect(server.openConnections <= 2)
        }
        #expect(server.connectionCount == 5)
    }

    @Test func stopReleasesWaitingConnections() async throws {
        let server = try server { $0.maximumConnections = 1 }
        let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
        try await server.awaitConnections(open: 1)

        server.stop()

        for client in clients { _ = client.readToEnd() }
        #expect(server.openConnections == 0)
    }

    @Test func oversizedHeadReturns431() throws {
        let server = try server { _ in }
        let client = try RawClient(port: server.port)

        client.get("/", fields: "X: \(String(repeating: "x", count: 1 << 20))\r\n")

        #expect(client.readToEnd().hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
        #expect(server.requestCount == 0)
    }

    @Test func awaitingUnrecordedRequestThrows() async throws {
        let server = try server { $0.maximumRecordedRequests = 1 }
        let client = try RawClient(port: server.port)
        client.get("/0")
        client.get("/1", fields: "Connection: close\r\n")
        _ = client.readToEnd()

        #expect(try await server.awaitRequest().target == "/0")
        #expect(try await server.awaitRequests(2).count == 1)

        let unrecorded = try self.server { $0.maximumRecordedRequests = 0 }
        let other = try RawClient(port: unrecorded.port)
        other.get("/0", fields: "Connection: close\r\n")
        _ = other.readToEnd()
        await #expect(throws: WaitTimeoutError.self) { try await unrecorded.awaitRequest() }
    }

    @Test func unrecordedRequestsAreServedAndCounted() throws {
        let server = try server { $0.maximumRecordedRequests = 2 }
        let client = try RawClient(port: server.port)

        for number in 0..<4 { client.get("/\(number)") }
        client.get("/last", fields: "Connection: close\r\n")

        #expect(client.readToEnd().hasSuffix("\r\n\r\n/last"))
        #expect(server.requests.map(\.target) == ["/0", "/1"])
        #expect(server.requestCount == 5)
    }
}

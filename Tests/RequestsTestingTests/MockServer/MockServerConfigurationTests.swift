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

    @Test func aPortCanBeAskedFor() throws {
        let first = try server { _ in }
        let port = first.port
        #expect(throws: MockServerError.system(call: "bind", code: EADDRINUSE)) { try server { $0.port = port } }
        first.stop()

        let second = try server { $0.port = port }

        #expect(second.port == port)
        #expect(throws: MockServerError.system(call: "bind", code: EINVAL)) { try server { $0.port = 65536 } }
    }

    @Test func lastResponseOfAConnectionAnnouncesItsEnd() throws {
        let server = try server { $0.maximumRequestsPerConnection = 2 }
        let client = try RawClient(port: server.port)

        for number in 1...3 { client.get("/\(number)") }

        let answers = client.readToEnd().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(answers.map { $0.contains("Connection: close") } == [false, true])
        #expect(answers.last?.hasSuffix("\r\n\r\n/2") == true)
        #expect(server.requestCount == 2)
    }

    @Test(arguments: ["", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a HTTP/1.1\r\nHo"])
    func anIdleConnectionIsClosed(sent: String) async throws {
        let expected = sent.hasSuffix("\r\n\r\n") ? ["200", "/a"] : ["", ""]
        var found: [String] = []

        // Under load, bytes may arrive after the timeout: then they are sent again with more time.
        for milliseconds in [50, 500, 5000] where found != expected {
            let server = try server { $0.idleTimeout = .milliseconds(milliseconds) }
            let client = try RawClient(port: server.port)
            client.send(sent)
            let answer = client.readToEnd()
            found = [String(answer.dropFirst(9).prefix(3)), String(answer.suffix(2))]
            if client.wasReset { found = ["reset"] }
        }

        #expect(found == expected)
    }

    @Test func connectionsBeyondTheLimitWaitTheirTurn() async throws {
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

    @Test func stopEndsTheWaitForRoom() async throws {
        let server = try server { $0.maximumConnections = 1 }
        let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
        try await server.awaitConnections(open: 1)

        server.stop()

        for client in clients { _ = client.readToEnd() }
        #expect(server.openConnections == 0)
    }

    @Test func aHeadThatIsTooLargeIsAnswered431() throws {
        let server = try server { $0.maximumHeadSize = 100 }
        let client = try RawClient(port: server.port)

        client.get("/", fields: "X: \(String(repeating: "x", count: 100))\r\n")

        #expect(client.readToEnd().hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
        #expect(server.requestCount == 0)
    }

    static let tooLarge = [
        "Content-Length: 11\r\n\r\n", "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n",
        "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
    ]

    @Test(arguments: tooLarge)
    func contentThatIsTooLargeIsAnswered413BeforeItComes(fields: String) throws {
        let server = try server { $0.maximumBodySize = 10 }
        let client = try RawClient(port: server.port)

        client.send("POST / HTTP/1.1\r\nHost: h\r\n\(fields)")

        #expect(client.read(upTo: "\r\n") == "HTTP/1.1 413 Content Too Large\r\n")
        client.finishSending()
        #expect(client.readToEnd().contains("Connection: close\r\n"))
        #expect(server.requestCount == 0)
    }

    @Test func contentOfTheLimitIsTaken() throws {
        let server = try server { $0.maximumBodySize = 10 }
        let client = try RawClient(port: server.port)

        client.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789")
        client.send("POST /2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send("6\r\nabcdef\r\n4\r\nghij\r\n0\r\n\r\n")

        #expect(client.readToEnd().hasSuffix("\r\n\r\n/2"))
        #expect(server.requests.map(\.body.count) == [10, 10])
    }

    @Test func waitForAnUnrecordedRequestThrows() async throws {
        let server = try server { $0.maximumRecordedRequests = 1 }
        let client = try RawClient(port: server.port)
        client.get("/0")
        client.get("/1", fields: "Connection: close\r\n")
        _ = client.readToEnd()

        #expect(try await server.awaitRequest(count: 1).target == "/0")
        #expect(try await server.awaitRequests(2).count == 1)
        await #expect(throws: MockServerError.notRecorded(maximum: 1)) { try await server.awaitRequest(count: 2) }
    }

    @Test func requestsBeyondTheRecordAreAnsweredAndCounted() throws {
        let server = try server { $0.maximumRecordedRequests = 2 }
        let client = try RawClient(port: server.port)

        for number in 0..<4 { client.get("/\(number)") }
        client.get("/last", fields: "Connection: close\r\n")

        #expect(client.readToEnd().hasSuffix("\r\n\r\n/last"))
        #expect(server.requests.map(\.target) == ["/0", "/1"])
        #expect(server.log.count == 2)
        #expect(server.requestCount == 5)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct MockServerLogTests {
    @Test func theTimesOfARequestFollowEachOther() async throws {
        let gate = Gate()
        let server = try MockServer { .text($0.text).held(by: gate) }
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 4\r\n\r\n")
        client.send("text")
        try await server.awaitRequest()
        let early = try #require(server.log.first)
        #expect(early.answered == nil)
        #expect(early.sentByteCount == 0)
        gate.open()

        let answer = client.readToEnd()
        try await server.awaitConnections(open: 0)

        let entry = try #require(server.log.first)
        let bodyRead = try #require(entry.bodyRead)
        let answered = try #require(entry.answered)
        #expect(.zero <= entry.accepted && entry.accepted <= entry.headRead)
        #expect(entry.headRead <= bodyRead && bodyRead <= answered)
        #expect(entry.sentByteCount == answer.utf8.count)
        #expect(entry.request == server.requests.first)
    }

    @Test func faultHasNoResponseTime() async throws {
        let server = try MockServer()
        server.route(.post, "/", .raw("HTTP/1.1 200 OK\r\n\r\nhello").truncated(after: 20).early)
        let client = try RawClient(port: server.port)

        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
        _ = client.readToEnd()
        client.finishSending()
        try await server.awaitConnections(open: 0)

        let entry = try #require(server.log.first)
        #expect(entry.bodyRead == nil)
        #expect(entry.answered == nil)
        #expect(entry.sentByteCount == 20)
    }

    @Test func everyRequestHasTheNumberOfItsConnection() throws {
        let server = try MockServer { _ in .noContent }
        for _ in 0..<2 {
            let client = try RawClient(port: server.port)
            client.get("/a")
            client.get("/b", fields: "Connection: close\r\n")
            _ = client.readToEnd()
        }

        let log = server.log
        try #require(log.map(\.request.connection) == [0, 0, 1, 1])
        #expect(log[0].accepted == log[1].accepted)
        #expect(log[1].accepted < log[2].accepted)
    }
}

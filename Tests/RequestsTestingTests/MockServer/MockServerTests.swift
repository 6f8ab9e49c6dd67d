// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct MockServerTests {
    @Test func handlerChoosesResponse() throws {
        let server = try MockServer { request in
            switch request.path {
            case "/recipes/1": .json(#"{"name":"Pancakes"}"#)
            case "/slow": .text("late").delayed(by: .milliseconds(1))
            default: .status(.notFound)
            }
        }
        let client = try RawClient(port: server.port)

        client.get("/recipes/1?x=1")
        client.get("/slow")
        client.get("/", fields: "Connection: close\r\n")

        #expect(
            client.readToEnd() == """
                HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"Pancakes"}\
                HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\nlate\
                HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n
                """
        )
    }

    @Test func queueThenRoutesThenHandler() throws {
        let server = try MockServer { _ in .text("handler") }
        server.route(.get, "/a", .text("route"))
        server.route(.get, "/a?x=1") { request in .text("made for \(request.query["x"] ?? "")") }
        server.enqueue(.status(503), .text("now"))
        let client = try RawClient(port: server.port)

        for target in ["/a", "/a", "/a", "/a?x=1", "/a?x=2"] { client.get(target) }
        client.get("/b", fields: "Connection: close\r\n")

        let bodies = client.readToEnd().components(separatedBy: "HTTP/1.1 ").dropFirst().map {
            $0.components(separatedBy: "\r\n\r\n").last ?? ""
        }
        #expect(bodies == ["", "now", "route", "made for 1", "route", "handler"])
    }

    @Test(arguments: ["websocket", "WebSocket"]) func upgradeTokenIsCaseInsensitive(_ name: String) throws {
        let server = try MockServer { _ in .webSocket { _ in } }
        let client = try RawClient(port: server.port)
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

        client.get("/", fields: "Upgrade: \(name)\r\nConnection: Upgrade\r\n\(key)")

        #expect(client.read(upTo: "\r\n").hasPrefix("HTTP/1.1 101 "))
    }

    @Test func unmatchedRequestReturns404() throws {
        let server = try MockServer()
        server.route(.post, "/a", .text("posted"))
        let client = try RawClient(port: server.port)

        client.get("/a", fields: "Connection: close\r\n")

        #expect(client.readToEnd().hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    }

    @Test func throwingHandlerReturns500() throws {
        let server = try MockServer { _ in throw CancellationError() }
        let client = try RawClient(port: server.port)

        client.get("/", fields: "Connection: close\r\n")

        #expect(client.readToEnd().hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
    }

    @Test func requestsAreRecordedVerbatim() throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)
        let first = "POST /a%20b?c=%20&d=? HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-A: 2\r\nContent-Length: 3\r\n\r\nabc"
        let second = """
            PUT * HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n0\r\nX-T: t\r\n\r\n
            """

        client.send(first + second)
        _ = client.readToEnd()
        let other = try RawClient(port: server.port)
        other.get("/", fields: "Connection: close\r\n")
        _ = other.readToEnd()

        let requests = server.requests
        try #require(requests.count == 3)
        #expect(requests.map(\.rawBytes)[..<2] == [Data(first.utf8), Data(second.utf8)])
        #expect(requests.map(\.connection) == [0, 0, 1])
        #expect(requests.map(\.index) == [0, 1, 2])
        #expect(requests[0].method == .post)
        #expect(requests[0].path == "/a%20b")
        #expect(requests[0].query == ["c": " ", "d": "?"])
        #expect(requests[0].headers[values: "X-A"] == ["1", "2"])
        #expect(requests[1].text == "abc")
        #expect(requests[1].target == "*" && requests[1].query.isEmpty)
        #expect(requests[1].trailers == ["X-T": "t"])
        #expect(server.connectionCount == 2)
    }

    @Test func expectHeaderGets100Continue() throws {
        let server = try MockServer { .text($0.text) }
        let client = try RawClient(port: server.port)

        let fields = "Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n"
        client.send("POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        #expect(client.read(upTo: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ok")

        #expect(client.readToEnd().hasSuffix("\r\n\r\nok"))
    }

    @Test func malformedRequestClosesConnection() throws {
        let server = try MockServer { _ in .text("fine") }
        let client = try RawClient(port: server.port)

        client.send("GARBAGE\r\n\r\n" + String(repeating: "x", count: 100_000))
        client.finishSending()

        let answer = client.readToEnd()
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(!client.wasReset)
        #expect(server.requests.isEmpty)
    }

    @Test func http10ConnectionIsClosed() throws {
        let server = try MockServer { _ in .text("fine") }
        let client = try RawClient(port: server.port)

        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")

        #expect(client.readToEnd().hasSuffix("Connection: close\r\n\r\nfine"))
    }

    @Test func urlsArePreservedVerbatim() throws {
        let server = try MockServer()

        #expect(server.url.absoluteString == "http://127.0.0.1:\(server.port)")
        #expect(server.url("/a%20b?x=1%2F2").absoluteString == "http://127.0.0.1:\(server.port)/a%20b?x=1%2F2")
    }

    @Test func awaitRequestsReturnsOnceCountIsReached() async throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)

        async let both = server.awaitRequests(2)
        client.get("/1")
        client.get("/2")

        #expect(try await both.map(\.target) == ["/1", "/2"])
        #expect(try await server.awaitRequest().target == "/1")
    }

    @Test func awaitRequestEndsOnCancelAndStop() async throws {
        let server = try MockServer()

        let cancelled = Task { try await server.awaitRequest() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }

        let stopped = Task { try await server.awaitRequest() }
        server.stop()
        await #expect(throws: WaitTimeoutError.self) { try await stopped.value }
    }

    @Test func servesSixtyFourConcurrentConnections() async throws {
        let gate = Gate()
        let server = try MockServer { .text($0.path).held(by: gate) }
        let clients = try (0..<64).map { _ in try RawClient(port: server.port) }

        for (number, client) in clients.enumerated() { client.get("/\(number)", fields: "Connection: close\r\n") }
        try await server.awaitRequests(64)
        #expect(server.openConnections == 64)
        gate.open()

        for (number, client) in clients.enumerated() { #expect(client.readToEnd().hasSuffix("\r\n\r\n/\(number)")) }
        try await server.awaitConnections(open: 0)
        #expect(server.connectionCount == 64)
        #expect(Set(server.requests.map(\.connection)).count == 64)
    }

    @Test func serversAreIndependent() throws {
        let servers = try (0..<20).map { number in try MockServer { _ in .text("\(number)").closing } }

        for (number, server) in servers.enumerated() {
            let client = try RawClient(port: server.port)
            client.get("/")
            #expect(client.readToEnd().hasSuffix("\r\n\r\n\(number)"))
        }
        #expect(Set(servers.map(\.port)).count == 20)
    }

    static let late: [StubResponse] = [
        .text("late").delayed(by: .milliseconds(30)),
        .text("late").throttled(to: StubResponse.Speed(bytesPerSecond: 2000)),
        .text("late").dripping(every: .milliseconds(5)),
    ]

    @Test(arguments: late.indices)
    func halfClosedClientGetsDelayedResponses(index: Int) throws {
        let server = try MockServer { _ in Self.late[index] }
        let client = try RawClient(port: server.port)

        client.get("/")
        client.get("/")
        client.finishSending()

        let answers = client.readToEnd().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        #expect(answers.count == 2)
        #expect(!client.wasReset)
    }

    @Test func halfClosedClientGetsHeldResponse() async throws {
        let gate = Gate()
        let server = try MockServer { _ in .text("late").held(by: gate) }
        let client = try RawClient(port: server.port)
        client.get("/")
        client.finishSending()
        try await server.awaitRequest()
        try await server.awaitConnections(open: 0)

        gate.open()

        #expect(client.readToEnd().hasSuffix("\r\n\r\nlate"))
        #expect(server.openConnections == 0)
    }
}

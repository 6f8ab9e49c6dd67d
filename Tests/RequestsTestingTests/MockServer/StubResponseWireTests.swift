// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubResponseWireTests {
    struct Recipe: Encodable {
        var name = "Pancakes"
        var id = 1
        var image = "a/b"
    }

    /// Returns all that a client reads until the connection ends.
    private func answer(
        _ response: StubResponse,
        to request: String = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    ) throws -> String {
        let server = try MockServer { _ in response }
        let client = try RawClient(port: server.port)
        client.send(request)
        return client.readToEnd()
    }

    static let factories: [(StubResponse, String)] = [
        (.status(.notFound), "404 Not Found\r\nContent-Length: 0\r\n~\r\n"),
        (.status(299, headers: ["X-A": "1", "x-a": "2"]), "299 \r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n~\r\n"),
        (.status(.created, body: Data("a".utf8)), "201 Created\r\nContent-Length: 1\r\n~\r\na"),
        (.status(.ok, headers: [.contentLength: "9"], body: Data("a".utf8)), "200 OK\r\nContent-Length: 9\r\n~\r\na"),
        (.text("é"), "200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n~\r\né"),
        (
            .json("[1]", status: .accepted),
            "202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 3\r\n~\r\n[1]"
        ),
        (.data(Data("x".utf8)), "200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 1\r\n~\r\nx"),
        (.data(Data(), headers: [.contentType: "a/b"]), "200 OK\r\nContent-Type: a/b\r\nContent-Length: 0\r\n~\r\n"),
        (.noContent, "204 No Content\r\n~\r\n"),
        (.status(.notModified, body: Data("no".utf8)), "304 Not Modified\r\n~\r\n"),
        (.redirect(to: "/b"), "302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n~\r\n"),
        (
            .redirect(to: "http://h/ü", status: .permanentRedirect),
            "308 Permanent Redirect\r\nLocation: http://h/ü\r\nContent-Length: 0\r\n~\r\n"
        ),
        (
            .chunked([Data("hello ".utf8), Data(), Data("wonderful world".utf8)], trailers: ["X-T": "t"]),
            """
            200 OK\r\nTransfer-Encoding: chunked\r\n~\r\n6\r\nhello \r\nf\r\nwonderful world\r\n0\r\nX-T: t\r\n\r\n
            """
        ),
        (.chunked([]), "200 OK\r\nTransfer-Encoding: chunked\r\n~\r\n0\r\n\r\n"),
        (.text("a").closing, "200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1\r\n~\r\na"),
    ]

    @Test(arguments: factories.indices)
    func factoriesSendExpectedBytes(index: Int) throws {
        let (response, expected) = Self.factories[index]

        let text = try answer(response)

        #expect(text == "HTTP/1.1 " + expected.replacingOccurrences(of: "~", with: "Connection: close\r\n"))
    }

    @Test(arguments: factories.indices)
    func headResponseHasNoBody(index: Int) throws {
        let (response, expected) = Self.factories[index]

        let text = try answer(response, to: "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")

        let head = expected.components(separatedBy: "~")[0]
        #expect(text == "HTTP/1.1 " + head + "Connection: close\r\n\r\n")
    }

    @Test func encodesValueAsJSON() throws {
        #expect(try answer(.json(Recipe())).hasSuffix(#"\#r\#n\#r\#n{"id":1,"image":"a/b","name":"Pancakes"}"#))
    }

    @Test func echoReturnsRequestBody() throws {
        let fields = "Content-Type: a/b\r\nConnection: close\r\nContent-Length: 2\r\n"

        #expect(
            try answer(.echo, to: "PUT / HTTP/1.1\r\nHost: h\r\n\(fields)\r\nhi")
                == "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        )
    }

    @Test func invalidStubReturns500WithReason() throws {
        let missing = try answer(.file(URL(fileURLWithPath: "/nowhere/x.txt")))
        #expect(missing.hasPrefix("HTTP/1.1 500 ") && missing.contains("no response could be created: "))

        let offline = try answer(.offline)
        #expect(offline.hasPrefix("HTTP/1.1 500 "))
        #expect(offline.contains("a MockServer can't simulate offline; use .closed, .reset"))
    }

    @Test func networkConnectionLostResetsConnection() throws {
        let server = try MockServer { _ in .failure(.networkConnectionLost) }
        let client = try RawClient(port: server.port)
        client.get("/")

        #expect(client.readToEnd() == "" && client.wasReset)
    }

    @Test func rawIsSentVerbatimAndCloses() throws {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

        #expect(try answer(.raw("garb\0age"), to: request) == "garb\0age")
        #expect(try answer(.raw(Data([0x61, 0x0A])), to: request) == "a\n")
    }

    @Test func rawCanKeepConnectionAlive() throws {
        let server = try MockServer { _ in .raw("HTTP/1.1 204 Fine\r\n\r\n", keepsAlive: true) }
        let client = try RawClient(port: server.port)

        client.get("/")
        #expect(client.read(upTo: "\r\n\r\n") == "HTTP/1.1 204 Fine\r\n\r\n")
        client.get("/")
        #expect(client.read(upTo: "\r\n\r\n") == "HTTP/1.1 204 Fine\r\n\r\n")
        #expect(server.requests.map(\.connection) == [0, 0])
    }

    @Test func closingOverridesKeepAlive() throws {
        let text = try answer(.text("a").closing, to: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")

        #expect(text.hasSuffix("Connection: close\r\n\r\na"))
    }

    @Test func scriptRunsStepByStep() throws {
        let steps: [StubResponse.Step] = [
            .send(Data("a".utf8)), .pause(.milliseconds(1)), .send(Data("b".utf8)), .close,
            .send(Data("never".utf8)),
        ]

        #expect(try answer(.script(steps)) == "ab")
    }

    @Test func largeResponseHasFewSteps() {
        let request = ReceivedRequest.sample()

        #expect(StubResponse.text("a").steps(for: request).count == 1)
        #expect(StubResponse.text("abc").held(by: Gate(), after: 2).steps(for: request).count == 3)
        // Not one step for each piece, since a large response has millions.
        let large = StubResponse.raw(Data(count: 1 << 20))
        #expect(large.dripping(every: .seconds(1)).steps(for: request).count == 1)
        #expect(large.throttled(to: .gprs).truncated(after: 100).steps(for: request).count == 2)
    }
}

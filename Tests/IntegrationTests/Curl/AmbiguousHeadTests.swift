// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Heads that two readers would understand differently, on a connection that stays open: the client would wait for
/// content until its timeout.
@Suite(.bounded) struct AmbiguousHeadTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test(arguments: [
        ok + "Content-Length : 5\r\n\r\nhello",
        ok + "Content-Length\t: 5\r\n\r\nhello",
        ok + "content-length  \t : 5\r\nA: b\r\n\r\nhello",
        ok + "A: b\r\nTransfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ok + "Transfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ok + "Content-Length:\r\n\t5\r\n\r\nhello",
        ok + "Content-Length: 1\r\n \r\n\r\nhello",
        ok + " Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + " Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Content-Length : 5\r\n\r\nhello",
        "HTTP/1.1 404 Not Found\r\nContent-Length : 5\r\n\r\nhello",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n" + ok + "Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
    ])
    func malformedHeadFailsImmediately(_ wire: String) async throws {
        let over = Gate()
        defer { over.open() }
        let server = try MockServer { _ in .script([.send(Data(wire.utf8)), .waitFor(over)], keepsAlive: true) }
        let client = HTTPClient(baseURL: server.url, transport: CurlTransport()) { $0.timeout = .seconds(20) }

        for request in [HTTPRequest("a"), HTTPRequest("a").method(.post).body(Data("content".utf8))] {
            let error = await #expect(throws: RequestError.self) { try await client.fetch(request) }
            #expect(error?.code == .badResponse, "\(error as Any)")
        }
    }

    @Test(arguments: [
        (HTTPMethod.get, ok + "Content-Language : de\r\nTrailer : x\r\nContent-Length: 5\r\nX:\r\n y\r\n\r\nhello"),
        (.get, ok + "Content-Lengths : 9\r\nContent-Length:    5   \r\n\r\nhello"),
        (.head, ok + "Content-Length : 5\r\n\r\n"),
        (.get, "HTTP/1.1 204 No Content\r\nContent-Length : 5\r\n\r\n"),
        (.get, "HTTP/1.1 103 Early Hints\r\nContent-Length : 9\r\n\r\n" + ok + "Content-Length: 5\r\n\r\nhello"),
    ])
    func unambiguousHeadIsAccepted(_ method: HTTPMethod, _ wire: String) async throws {
        let over = Gate()
        defer { over.open() }
        let server = try MockServer { _ in .script([.send(Data(wire.utf8)), .waitFor(over)], keepsAlive: true) }
        let client = HTTPClient(baseURL: server.url, transport: CurlTransport()) { $0.timeout = .seconds(20) }

        let text = try await client.fetch(HTTPRequest("a").method(method).decoding(.text))

        #expect(text == (wire.hasSuffix("hello") ? "hello" : ""))
    }
}
#endif

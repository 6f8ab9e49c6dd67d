// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Real clients with the server: if they accept its responses, the library's client may be tested with it.
@Suite(.bounded, .enabled(if: Tool.curl.exists, "curl is not installed"))
struct InteropCurlTests {
    @Test func servesGetAndHead() async throws {
        let server = try MockServer { _ in .json("[1]") }

        #expect(try await Tool.curl("-s", server.url("/a?b=%20").absoluteString).output == "[1]")
        #expect(try await Tool.curl("-sI", server.url.absoluteString).output.contains("Content-Length: 3\r\n"))
        #expect(server.requests.map(\.method) == [.get, .head])
        #expect(server.requests.first?.target == "/a?b=%20")
    }

    @Test func receivesPostAndChunkedUpload() async throws {
        let server = try MockServer { .text($0.text) }
        let url = server.url.absoluteString

        #expect(try await Tool.curl("-s", "-d", "a=1", url).output == "a=1")
        let chunked = try await Tool.curl("-s", "-H", "Transfer-Encoding: chunked", "-d", "a=2", url)
        #expect(chunked.output == "a=2")
        let request = try #require(server.requests.last)
        #expect(request.headers[.transferEncoding] == "chunked")
        #expect(request.rawBytes.suffix(13) == Data("3\r\na=2\r\n0\r\n\r\n".utf8))
    }

    @Test func curlReusesConnection() async throws {
        let server = try MockServer { .text($0.path) }

        let result = try await Tool.curl("-s", server.url("/1").absoluteString, server.url("/2").absoluteString)

        #expect(result.output == "/1/2")
        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.connection) == [0, 0])
    }

    @Test func sends100ContinueToCurl() async throws {
        let server = try MockServer { .text($0.text) }

        let result = try await Tool.curl(
            "-sv",
            "--expect100-timeout",
            "60",
            "-H",
            "Expect: 100-continue",
            "-d",
            "big",
            server.url.absoluteString
        )

        #expect(result.output == "big")
        #expect(result.errors.contains("< HTTP/1.1 100 Continue"))
    }

    @Test func curlReadsChunkedResponse() async throws {
        let server = try MockServer { _ in .chunked([Data("one".utf8), Data("two".utf8)], trailers: ["X-T": "t"]) }

        #expect(try await Tool.curl("-s", server.url.absoluteString).output == "onetwo")
    }

    static let faults: [(StubResponse, Int32)] = [
        (.text("hello").truncated(after: 2), 18), (.text("hello").reset(after: 2), 56), (.reset, 56), (.closed, 52),
    ]

    @Test(arguments: faults.indices)
    func curlExitCodesReportFaults(index: Int) async throws {
        let (response, code) = Self.faults[index]
        let server = try MockServer { _ in response }

        let result = try await Tool.curl("-sS", server.url.absoluteString)

        #expect(result.status == code, "\(result.errors)")
    }
}

/// Python's client, which parses responses independently.
@Suite(.bounded, .enabled(if: Tool.python.exists, "Python is not installed"))
struct InteropPythonTests {
    @Test func connectionServesMixedRequests() async throws {
        let server = try MockServer { $0.method == .get ? .text($0.path) : .text($0.text) }
        let program = """
            import http.client
            c = http.client.HTTPConnection("127.0.0.1", \(server.port), timeout=30)
            def ask(*a, **k):
                c.request(*a, **k); r = c.getresponse(); print(r.status, r.read().decode(), sep=":")
            ask("GET", "/a")
            ask("POST", "/b", body="text")
            ask("PUT", "/c", body=iter([b"one", b"two"]), encode_chunked=True)
            ask("HEAD", "/d")
            """

        let result = try await Tool.python("-c", program)

        #expect(result.output == "200:/a\n200:text\n200:onetwo\n200:\n")
        #expect(result.errors == "")
        #expect(server.connectionCount == 1)
        #expect(server.requests.map { $0.headers[.transferEncoding] } == [nil, nil, "chunked", nil])
    }
}

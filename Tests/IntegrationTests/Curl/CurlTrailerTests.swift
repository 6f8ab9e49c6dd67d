// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Fields after the content: they come too late to decide about anything (RFC 9110, 6.5.1).
    @Suite(.bounded) struct CurlTrailerTests {
        @Test func trailersDoNotAffectResponseHandling() async throws {
            let server = try MockServer { _ in
                .chunked(
                    [Data("content".utf8)],
                    trailers: [
                        .setCookie: "session=evil; Path=/", .cacheControl: "max-age=60", .location: "/evil",
                        .contentType: "text/evil", .link: "</evil>; rel=next",
                        .authenticationInfo: #"nextnonce="evil""#,
                    ],
                    headers: [.contentType: "text/plain", .cacheControl: "no-store"]
                )
            }
            let (jar, cache, transport) = (CookieJar(), ResponseCache(), CurlTransport())
            let client = HTTPClient(transport: transport) { ($0.cookies, $0.cache) = (jar, cache) }

            var response = try await client.send(HTTPRequest(url: server.url))
            response = try await client.send(HTTPRequest(url: server.url))
            transport.close()

            #expect(String(decoding: response.body, as: UTF8.self) == "content")
            #expect(jar.cookies.isEmpty && cache.responses(for: server.url).isEmpty)
            #expect(server.requests.count == 2 && server.requests.allSatisfy { !$0.headers.contains(.cookie) })
            #expect(response.headers[.contentType] == "text/plain" && !response.headers.contains(.link))
        }
    }
}
#endif

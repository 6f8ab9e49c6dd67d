// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    #if os(Linux)
    /// Addresses with letters of any language.
    @Suite(.bounded) struct InternationalHostTests {
        private static func client(for server: MockServer, baseURL: URL? = nil) -> HTTPClient {
            let transport = CurlTransport.configured { $0.addresses = ["BÜCHER.example": ["127.0.0.1"]] }
            return HTTPClient(transport: transport) { ($0.baseURL, $0.cookies) = (baseURL, CookieJar()) }
        }

        @Test(arguments: ["bücher.example", "BÜCHER.EXAMPLE", "xn--bcher-kva.example"])
        func internationalHostIsReached(_ host: String) async throws {
            let server = try MockServer { _ in .text("hi") }
            let client = Self.client(for: server)

            let text = try await client.send(HTTPRequest("http://\(raw: host):\(server.port)/ä?ö=ü")).body

            #expect(String(decoding: text, as: UTF8.self) == "hi")
            let request = try #require(server.requests.first)
            #expect(request.headers["Host"]?.lowercased() == "xn--bcher-kva.example:\(server.port)")
            #expect(request.target == "/%C3%A4?%C3%B6=%C3%BC")
        }

        @Test func unicodeAndEncodedHostsAreEqual() async throws {
            let server = try MockServer { _ in .text("hi", headers: ["Set-Cookie": "a=b"]) }
            let base = try #require(URL(string: "http://bücher.example:\(server.port)/"))
            let client = Self.client(for: server, baseURL: base)
            client.environment.headers[.authorization] = "Bearer secret"

            for host in ["bücher.example", "xn--bcher-kva.example"] {
                _ = try await client.send(HTTPRequest("http://\(raw: host):\(server.port)/"))
            }

            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer secret", "Bearer secret"])
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "a=b"])
        }

        @Test(arguments: ["http://a%2Fb.example/", "http://b%C3%BCcher.example/", "http://ex%40ample.test/"])
        func percentEncodedHostIsRejected(_ address: String) async throws {
            let client = HTTPClient()

            let error = await #expect(throws: RequestError.self) {
                try await client.send(HTTPRequest("\(raw: address)"))
            }

            #expect([.invalidRequest, .cannotConnect].contains(error?.code))
        }
    }
    #endif
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Requests to several hosts share a connection to a proxy.
    @Suite(.bounded) struct CurlProxyTests {
        /// libcurl 7.88 puts the name of a host into brackets after an address of IPv6.
        @Test func proxyReceivesHostFieldUnchanged() async throws {
            let proxy = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured {
                $0.proxy = "http://127.0.0.1:\(proxy.port)"
                $0.addresses = ["host.test": ["127.0.0.1"]]
            }
            let hosts = ["[::1]:8080", "host.test", "[::1]", "host.test:8080", "127.0.0.1:81"]

            for host in hosts {
                let url = try #require(URL(string: "http://\(host)/path?query"))
                #expect(await transport.run(url).text == "hi")
            }
            let own = await transport.run(
                try #require(URL(string: "http://host.test/")),
                headers: [.host: "own.test"]
            )

            #expect(own.text == "hi")
            #expect(proxy.requests.map { $0.headers[values: .host] } == (hosts + ["own.test"]).map { [$0] })
            #expect(proxy.connectionCount == 1)
            transport.close()
        }

        /// The answer to the request for a tunnel comes from the proxy, over a connection that anyone can change.
        @Test(arguments: [HTTPStatus.forbidden, .found, .proxyAuthenticationRequired, .serviceUnavailable])
        func proxyResponseIsNotTakenForOrigins(_ status: HTTPStatus) async throws {
            let fields: HTTPHeaders = [
                .setCookie: "session=evil", .location: "/evil", .cacheControl: "max-age=60",
                .wwwAuthenticate: #"Basic realm="r""#, .proxyAuthenticate: #"Basic realm="p""#,
            ]
            let proxy = try MockServer { _ in .status(status, headers: fields, body: Data("evil".utf8)) }
            let transport = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
            let (jar, cache, asked) = (CookieJar(), ResponseCache(), Recorder<Void>())
            let client = HTTPClient(transport: transport) {
                ($0.cookies, $0.cache) = (jar, cache)
                $0.interceptors = [
                    ChallengeInterceptor { _, _ in
                        asked.record(())
                        return URLCredential(user: "u", password: "p", persistence: .none)
                    }
                ]
            }
            let url = try #require(URL(string: "https://example.invalid/"))

            let error = await #expect(throws: RequestError.self) { try await client.fetch(HTTPRequest(url: url)) }
            transport.close()

            #expect(error?.code == .proxyRefused && error?.response?.status == status)
            #expect(jar.cookies.isEmpty && cache.responses(for: url).isEmpty && asked.count == 0)
            #expect(proxy.requests.map(\.target) == ["example.invalid:443"])
        }

        private static func transport(over proxy: MockServer) -> CurlTransport {
            .configured {
                $0.proxy = "http://127.0.0.1:\(proxy.port)"
                $0.addresses = ["host.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]
            }
        }

        private let host = URL(string: "http://host.test/")!
        private let other = URL(string: "http://other.test/")!

        /// A dead connection to the proxy would cost the next request its whole timeout, whichever host it is for.
        @Test func timeoutClosesIdleConnectionsToTheProxy() async throws {
            let gate = Gate()
            let proxy = try MockServer { $0.headers[.host] == "other.test" ? .never : .text("hi").held(by: gate) }
            let transport = Self.transport(over: proxy)
            let transcripts = (0..<8).map { _ in Transcript() }
            for transcript in transcripts { transport.send(host, to: transcript) }
            try await proxy.awaitRequests(8)
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            let silent = await transport.run(other, timeout: .milliseconds(100))
            try await proxy.awaitConnections(open: 0)

            #expect(silent.result == "timedOut")
            #expect(await transport.run(host).text == "hi")
            transport.close()
        }

        @Test(arguments: [("timeout=1", 2), ("timeout=60", 1)])
        func postAvoidsExpiringProxyConnection(_ keepAlive: String, _ connections: Int) async throws {
            let proxy = try MockServer { _ in .text("hi", headers: [.keepAlive: keepAlive]) }
            let transport = Self.transport(over: proxy)

            #expect(await transport.run(host).text == "hi")
            #expect(await transport.run(other, method: .post).text == "hi")

            #expect(proxy.connectionCount == connections)
            transport.close()
        }
    }
}
#endif

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
        @Test func proxyGetsEachHostAsItIs() async throws {
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
    }
}
#endif

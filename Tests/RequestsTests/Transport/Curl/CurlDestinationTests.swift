// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlDestinationTests {
    @Test(
        arguments: [
            ("http://example.com", "http://example.com:80", "example.com"),
            ("http://Example.COM:8080/a:b", "http://example.com:8080", "example.com"),
            ("https://example.com?q", "https://example.com:443", "example.com"),
            ("https://a_b-c.test:1/", "https://a_b-c.test:1", "a_b-c.test"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example:80", "xn--bcher-kva.example"),
            ("http://127.0.0.1:9/", "http://127.0.0.1:9", nil), ("http://[::1]:9/", "http://[::1]:9", nil),
            ("http://[::1]/", "http://[::1]:80", nil), ("http://127.1/", "http://127.1:80", nil),
            ("http://localhost/", "http://localhost:80", nil), ("http://a.LocalHost:1/", "http://a.localhost:1", nil),
            ("http://Example.com./", "http://example.com:80", "example.com"), ("http://./", "http://.:80", nil),
            ("http://0x7f.1/", "http://0x7f.1:80", nil), ("http://1.0x7F/", "http://1.0x7f:80", nil),
            ("http://a.1st/", "http://a.1st:80", "a.1st"), ("http://127.0.0.1./", "http://127.0.0.1.:80", nil),
            ("http://a%62.test/", "http://a%62.test:80", nil),
            ("", "http://:80", nil), ("http:", "http://:80", nil),
        ] as [(String, String, String?)]
    )
    func urlYieldsOriginAndName(_ address: String, _ origin: String, _ name: String?) {
        let destination = CurlDestination(address)

        let scheme = destination.isSecure ? "https" : "http"
        #expect("\(scheme)://\(destination.host):\(destination.port)" == origin)
        #expect(destination.name == name)
    }
}
#endif

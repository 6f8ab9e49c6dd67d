// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// One host has one form, whatever its spelling: in origins, cookies and pins.
@Suite(.bounded) struct CanonicalHostTests {
    static let spellings: [(String, String)] = [
        ("example.com", "EXAMPLE.com"), ("example.com", "example.com."), ("localhost", "localhost."),
        ("xn--bcher-kva.example", "B\u{FC}cher.example"), ("xn--bcher-kva.example", "XN--BCHER-KVA.example."),
        ("127.0.0.1", "127.1"), ("127.0.0.1", "0x7f000001"), ("127.0.0.1", "0177.0.0.1"), ("127.0.0.1", "2130706433"),
        ("127.0.0.1", "127.0.0.1."), ("127.0.0.1", "[::ffff:127.0.0.1]"), ("127.0.0.1", "[::FFFF:7f00:1]"),
        ("::1", "[0:0:0:0:0:0:0:1]"), ("fe80::1", "[FE80:0::1]"),
    ]

    @Test(arguments: spellings)
    func equivalentHostsShareOrigin(host: String, spelling: String) throws {
        let one = try #require(URL(string: "https://\(host.contains(":") ? "[\(host)]" : host)/"))
        let other = try #require(URL(string: "https://\(spelling):443/"))

        #expect(Origin(one) == Origin(other))
        #expect(CurlDestination("https://\(spelling)/").origin.host == host || !spelling.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test(arguments: spellings)
    func equivalentHostsShareCookies(host: String, spelling: String) throws {
        let url = try #require(URL(string: "https://\(spelling)/"))

        #expect(CookieAddress(url)?.host == host)
    }

    @Test(arguments: spellings)
    func equivalentHostsSharePins(host: String, spelling: String) throws {
        #expect(HostPattern.all(matching: host).first == (try HostPattern(spelling)))
        #expect(HostPattern.all(matching: spelling).first == (try HostPattern(host)))
    }

    @Test(arguments: [
        "example", "1.example", "1a", "127.0.0.1.example", "127.0.0.256", "a:b", "", "1 2", "127.0.0.1\n", "::g",
    ])
    func otherHostsAreUnchanged(text: String) {
        #expect(text.canonicalHost == text && text.canonicalIPAddress == nil)
    }
}

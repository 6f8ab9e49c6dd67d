// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CookieAddressTests {
    @Test(
        arguments: [
            ("https://Example.COM/a/b?c#d", "example.com", true, "/a/b"),
            ("http://example.com.", "example.com", false, "/"),
            ("HTTPS://example.com:8443?x", "example.com", true, "/"),
            ("wss://example.com/%2F", "example.com", true, "/%2F"),
            ("http://127.1/", "127.0.0.1", false, "/"), ("http://0x7f000001/", "127.0.0.1", false, "/"),
            ("http://[::1%25lo]/", "::1%25lo", false, "/"), ("http://[FE80::0:1%25en0]/", "fe80::1%25en0", false, "/"),
            ("http://[::0:1]/", "::1", false, "/"), ("http://localhost:80/", "localhost", false, "/"),
            ("https://bücher.example/", "xn--bcher-kva.example", true, "/"),
        ] as [(String, String, Bool, String)]
    )
    func urlIsNormalizedToHostAndPath(text: String, host: String, isSecure: Bool, path: String) throws {
        let address = try #require(URL(string: text).flatMap(CookieAddress.init))

        #expect(address.host == host)
        #expect(address.isSecure == isSecure)
        #expect(address.path == path)
    }

    @Test(arguments: [
        "file:///etc/passwd", "data:,x", "about:blank", "/relative", "http://a..b/", "http://a%2F.example.com/",
        "https://evil.example%00.example.com/", "http://a%20b/", "http://.example.com/", "http://[fe80::1%25e:0]/",
        "https://" + String(repeating: "a.", count: 200) + "com/",
    ])
    func unusualURLsHaveNoCookies(text: String) throws {
        let url = try #require(URL(string: text))

        #expect(CookieAddress(url) == nil)
    }

    @Test(
        arguments: [
            // RFC 6265, 5.1.4.
            ("https://h", "/"), ("https://h/", "/"), ("https://h/a", "/"), ("https://h/a/", "/a"),
            ("https://h/a/b", "/a"), ("https://h/a/b/?/c/", "/a/b"), ("https://h//", "/"), ("https://h/a//", "/a/"),
        ] as [(String, String)]
    )
    func defaultPathEndsBeforeTheLastSlash(text: String, path: String) throws {
        #expect(try #require(URL(string: text).flatMap(CookieAddress.init)).defaultPath == path)
    }

    @Test(
        arguments: [
            ("/", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true), ("/a/b", "/a/", true),
            ("/a/b", "/", true), ("/ab", "/a", false), ("/a", "/a/", false), ("/A", "/a", false), ("/", "/a", false),
        ] as [(String, String, Bool)]
    )
    func pathsMatchBySegment(path: String, cookiePath: String, matches: Bool) {
        #expect(path.isPath(below: cookiePath) == matches)
    }

    @Test(
        arguments: [
            ("a.b.example.com", ["a.b.example.com", "b.example.com", "example.com"]), ("example.com", ["example.com"]),
            ("localhost", ["localhost"]), ("127.0.0.1", ["127.0.0.1"]), ("[::1]", ["::1"]),
            ("1.2.3.4.5", ["1.2.3.4.5"]),
        ] as [(String, [String])]
    )
    func domainsIncludeParentsOfHost(host: String, domains: [String]) throws {
        #expect(try #require(URL(string: "http://\(host)/").flatMap(CookieAddress.init)).domains == domains)
    }

    @Test(
        arguments: [
            ("a.example.com", true), ("b.a.example.com", true), ("example.com", false), ("badexample.com", false),
            ("example.com.evil.org", false), ("com", false), ("1.127.0.0.1", false),
        ] as [(String, Bool)]
    )
    func domainMatchesWholeLabelsOnly(host: String, isBelow: Bool) throws {
        let address = try #require(URL(string: "http://\(host)/").flatMap(CookieAddress.init))

        #expect(address.isBelow("example.com") == isBelow)
        #expect(!address.isBelow("127.0.0.1"))
    }
}

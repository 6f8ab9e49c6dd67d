// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The cookies that a server may set, and the hosts that get them: RFC 6265, 5.3 and 5.4, and its successor's
/// additions.
@Suite(.bounded) struct CookieRulesTests {
    private let clock = ManualDate(.ofCookies)

    private func jar() -> CookieJar { CookieJar { clock.now } }

    @Test func examplesOfRFC6265() {
        // RFC 6265, 3.1.
        let jar = jar()

        jar.receive("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", from: "https://www.example.com/login")
        jar.receive("lang=en-US; Path=/; Domain=example.com", from: "https://www.example.com/login")
        #expect(jar.sent(to: "https://www.example.com/x") == "SID=31d4d96e407aad42; lang=en-US")
        #expect(jar.sent(to: "https://site.example.com/x") == "lang=en-US")

        jar.receive(
            "lang=; Domain=example.com; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            from: "https://www.example.com/"
        )
        #expect(jar.sent(to: "https://www.example.com/x") == "SID=31d4d96e407aad42")
        #expect(jar.sent(to: "http://www.example.com/x") == "")
    }

    @Test(
        arguments: [
            // The host that sets the cookie, its Domain, and the hosts that get it.
            ("example.com", nil, ["example.com", "EXAMPLE.com", "example.com.", "example.com:81"]),
            ("a.example.com", nil, ["a.example.com"]),
            ("example.com", "example.com", ["example.com", "example.com.", "EXAMPLE.com", "example.com:81"] + below),
            (
                "a.example.com", ".Example.COM",
                ["example.com", "example.com.", "EXAMPLE.com", "example.com:81"] + below
            ),
            ("a.example.com", "a.example.com", ["a.example.com", "b.a.example.com"]),
            // Domains of another host, of a public suffix and of the root.
            ("example.com", "example.org", []), ("example.com", "a.example.com", []), ("example.com", "com", []),
            ("example.com", "ample.com", []), ("badexample.com", "example.com", []),
            ("example.com", "example.com.", []),
            ("example.com", "com.", []), ("example.com", "e\u{301}xample.com", []),
            ("a.example.com", "*.example.com", []),
            ("a.localhost", "localhost", []), ("a.example.com", "..example.com", []),
            // Single-label names and IP addresses match only themselves.
            ("localhost", "localhost", ["localhost"]), ("localhost", nil, ["localhost"]),
            ("127.0.0.1", "127.0.0.1", ["127.0.0.1", "127.1"]), ("127.0.0.1", "0.1", []), ("127.0.0.1", "0.0.1", []),
            ("127.0.0.1", "127.1", []), ("[::1]", nil, ["[::1]", "[0::1]"]), ("[::1]", "[::1]", []), ("[::1]", "1", []),
        ] as [(String, String?, [String])]
    )
    func domainDeterminesReceivingHosts(host: String, domain: String?, hosts: [String]) {
        let jar = jar()

        jar.receive("a=b" + (domain.map { "; Domain=\($0)" } ?? ""), from: "https://\(host)/")

        #expect(Set(Self.all.filter { jar.sent(to: "https://\($0)/") == "a=b" }) == Set(hosts))
    }

    private static let below = ["a.example.com", "b.a.example.com", "b.example.com"]
    private static let all =
        below + [
            "example.com", "EXAMPLE.com", "example.com.", "example.com:81", "example.org", "com", "badexample.com",
            "example.com.evil.org", "ample.com", "localhost", "a.localhost", "127.0.0.1", "127.1", "1.127.0.0.1",
            "1.0.0.127", "[::1]", "[0::1]", "[::2]",
        ]

    @Test func cookieForPublicSuffixIsRejected() {
        let jar = jar()
        jar.receive("a=1; Domain=co.uk", "b=1; Domain=shop.co.uk", from: "https://www.shop.co.uk/")
        jar.receive("c=1; Domain=github.io", from: "https://mine.github.io/")
        jar.receive("d=1; Domain=github.io", from: "https://github.io/")

        #expect(jar.sent(to: "https://other.co.uk/") == "" && jar.sent(to: "https://shop.co.uk/") == "b=1")
        #expect(jar.sent(to: "https://other.github.io/") == "" && jar.sent(to: "https://github.io/") == "d=1")
    }

    /// The suffixes below the domain are public because of a wildcard rule.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/publicsuffix/public_suffix_list.dat")))
    func cookieForWildcardSuffixParentIsRejected() {
        let jar = jar()
        jar.receive("a=1; Domain=compute.amazonaws.com", from: "https://one.eu.compute.amazonaws.com/")
        jar.receive("b=1; Domain=kawasaki.jp", from: "https://shop.one.kawasaki.jp/")
        jar.receive("c=1; Domain=city.kawasaki.jp", from: "https://www.city.kawasaki.jp/")

        #expect(jar.sent(to: "https://two.us.compute.amazonaws.com/") == "")
        #expect(jar.sent(to: "https://shop.two.kawasaki.jp/") == "")
        #expect(jar.sent(to: "https://city.kawasaki.jp/") == "c=1")
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/publicsuffix/public_suffix_list.dat")),
        arguments: ["xn--55qx5d.cn", "xn--io0a7i.cn", "xn--od0alg.hk", "xn--12c1fe0br.xn--o3cw4h", "xn--czrw28b.tw"]
    )
    func cookieForInternationalSuffixIsRejected(suffix: String) {
        let jar = jar()

        jar.receive("a=1; Domain=\(suffix)", "b=1; Domain=shop.\(suffix)", from: "https://www.shop.\(suffix)/")

        #expect(jar.sent(to: "https://other.\(suffix)/") == "" && jar.sent(to: "https://shop.\(suffix)/") == "b=1")
    }

    @Test func insecureCookieFloodKeepsSecureCookie() {
        let jar = jar()
        jar.receive("session=1; Secure", from: "https://bank.example/")

        for index in 0..<4000 { jar.receive("a=b", from: "http://h\(index).example.com/") }

        #expect(jar.sent(to: "https://bank.example/") == "session=1")
    }

    @Test(arguments: [
        ("a=b; Path=/x", ["/x", "/x/", "/x/y"]), ("a=b", ["/d", "/d/", "/d/e"]),
        ("a=b; Path=d", ["/d", "/d/", "/d/e"]),
        ("a=b; Path=/x/", ["/x/", "/x/y"]), ("a=b; Path=/", ["/", "/d", "/d/", "/d/e", "/x", "/x/", "/x/y", "/xy"]),
    ])
    func pathDeterminesWhereCookieIsSent(field: String, paths: [String]) {
        let jar = jar()

        jar.receive(field, from: "https://h/d/page")

        let all = ["/", "/d", "/d/", "/d/e", "/x", "/x/", "/x/y", "/xy"]
        #expect(all.filter { jar.sent(to: "https://h\($0)") == "a=b" } == paths)
    }

    @Test(arguments: ["example.com", "localhost", "127.0.0.1", "[::1]"])
    func secureCookiesRequireTLS(host: String) {
        let jar = jar()

        jar.receive("a=1; Secure", from: "http://\(host)/")
        #expect(jar.cookies.isEmpty)

        jar.receive("a=1; Secure", from: "https://\(host)/")
        #expect(jar.sent(to: "https://\(host)/") == "a=1")
        #expect(jar.sent(to: "http://\(host)/") == "")
    }

    @Test(
        arguments: [
            // The cookie that is set over http after “a=1; Secure; Domain=b.example.com; Path=/x” over https.
            ("b.example.com", "a=2; Domain=b.example.com; Path=/x", false),
            ("b.example.com", "a=2; Path=/x/y", false), ("a.b.example.com", "a=2; Path=/x", false),
            ("example.com", "a=2; Domain=example.com; Path=/x", false),
            ("b.example.com", "a=; Max-Age=0; Domain=b.example.com; Path=/x", false),
            ("b.example.com", "a=2; Path=/", true), ("b.example.com", "b=2; Path=/x", true),
            ("c.example.com", "a=2; Path=/x", true), ("b.example.org", "a=2; Path=/x", true),
        ] as [(String, String, Bool)]
    )
    func insecureOriginsCannotOverwriteSecureCookies(host: String, field: String, isKept: Bool) {
        let jar = jar()

        jar.receive("a=1; Secure; Domain=b.example.com; Path=/x", from: "https://b.example.com/")
        jar.receive(field, from: "http://\(host)/")

        #expect(jar.cookies.count == (isKept ? 2 : 1))
        #expect(jar.cookies.first?.value == "1")
    }

    @Test(
        arguments: [
            ("__Secure-a=b; Secure", true), ("__Secure-a=b", false), ("__SECURE-a=b", false),
            ("__Secure-a=b; Secure; Domain=example.com; Path=/x", true),
            ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false), ("__Host-a=b; Path=/", false),
            ("__Host-a=b; Secure; Path=/x", false), ("__hOST-a=b; Secure; Path=/x", false),
            ("__Host-a=b; Secure; Path=/; Domain=example.com", false),
            ("__Host-\u{301}a=b", false), ("__Hosta=b", true), ("x__Host-a=b", true),
            ("__Http-a=b; Secure; HttpOnly", true), ("__Http-a=b; Secure", false), ("__hTTP-a=b; HttpOnly", false),
            ("__Http-a=b; Secure; HttpOnly; Domain=example.com; Path=/x", true), ("__Httpa=b", true),
            ("__Host-Http-a=b; Secure; HttpOnly; Path=/", true), ("__Host-Http-a=b; Secure; Path=/", false),
            ("__Host-HTTP-a=b; Secure; HttpOnly; Path=/x", false), ("__Host-Http-a=b; HttpOnly; Path=/", false),
            ("__Host-Http-a=b; Secure; HttpOnly; Path=/; Domain=example.com", false),
        ] as [(String, Bool)]
    )
    func cookieNamePrefixesAreEnforced(field: String, isKept: Bool) {
        let jar = jar()

        jar.receive(field, from: "https://example.com/dir/page")
        jar.receive(field, from: "http://example.org/dir/page")

        #expect(jar.cookies.filter { $0.domain == "example.com" }.count == (isKept ? 1 : 0))
        #expect(jar.cookies.allSatisfy { !$0.name.lowercased().hasPrefix("__host-") || $0.domain == "example.com" })
    }

    @Test func cookieExpiresExactlyOnTime() {
        let jar = jar()
        jar.receive("a=1; Max-Age=60", "b=2; Max-Age=0", "c=3", from: "https://h/")
        jar.receive("d=4; Expires=\(HTTPDate(clock.now + 30).rawValue)", from: "https://h/")
        jar.receive("e=5; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT", from: "https://h/")
        #expect(jar.sent(to: "https://h/") == "a=1; c=3; d=4; e=5")

        clock.advance(by: 30)
        #expect(jar.sent(to: "https://h/") == "a=1; c=3; e=5")
        #expect(jar.cookies.count == 3)

        clock.advance(by: 30)
        #expect(jar.cookies.map(\.name) == ["c"])
    }

    @Test func cookieLifetimeIsCappedAt400Days() {
        let jar = jar()

        jar.receive("a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "b=2; Max-Age=999999999999", from: "https://h/")

        #expect(jar.cookies.map(\.expires) == Array(repeating: clock.now + 400 * 86_400, count: 2))
    }

    @Test(arguments: [
        SetCookie("", "b=c"), SetCookie("a;", "b"), SetCookie("a=", "b"), SetCookie("a\r\n", "b"),
        SetCookie("a", "b;c"),
        SetCookie("a", "b\r\nX-Evil: 1"), SetCookie("a", "\0"), SetCookie(" a", "b"), SetCookie("a", "b "),
        SetCookie("a", String(repeating: "x", count: 4096)), SetCookie(String(repeating: "x", count: 4097), ""),
    ])
    func invalidCookiesAreRejectedWithSafeError(_ cookie: SetCookie) throws {
        let jar = jar()
        let url = try #require(URL(string: "https://h/"))

        let error = #expect(throws: InvalidValue.self) { try jar.set(cookie, for: url) }
        jar.store([cookie], from: url)

        #expect(error?.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } == true)
        #expect(error?.excerpt.utf8.count ?? 0 <= 80)
        #expect(jar.cookies.isEmpty)
    }

    @Test func invalidPathFallsBackToDefaultPath() throws {
        let jar = jar()
        let url = try #require(URL(string: "https://h/d/e"))

        for (index, path) in ["/x\r\n", "/x; Secure", "/" + String(repeating: "x", count: 1024), ""].enumerated() {
            var cookie = SetCookie("a\(index)", "b")
            cookie.path = path
            try jar.set(cookie, for: url)
        }

        #expect(jar.cookies.map(\.path) == Array(repeating: "/d", count: 4))
    }

    @Test(
        arguments: [
            ("https://example.com/", SetCookie("a", "b") { $0.domain = "com" }, "“com”, which is a public suffix"),
            ("https://example.com/", SetCookie("a", "b") { $0.domain = "evil.org" }, "“evil.org”"),
            ("http://example.com/", SetCookie("a", "b") { $0.isSecure = true }, "insecure connection"),
            ("https://example.com/", SetCookie("__Host-a", "b") { _ in }, "__Host-"),
            ("file:///x", SetCookie("a", "b") { _ in }, "host can't have cookies"),
        ] as [(String, SetCookie, String)]
    )
    func rejectionErrorNamesReason(address: String, cookie: SetCookie, reason: String) throws {
        let url = try #require(URL(string: address))

        let error = #expect(throws: InvalidValue.self) { try jar().set(cookie, for: url) }

        let text = error.map(String.init(describing:)) ?? ""
        #expect(text.contains(reason))
    }
}

extension SetCookie {
    fileprivate init(_ name: String, _ value: String, _ change: (inout SetCookie) -> Void) {
        self.init(name, value)
        change(&self)
    }
}

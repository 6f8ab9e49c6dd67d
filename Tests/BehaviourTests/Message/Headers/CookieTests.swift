// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct CookieTests {
    @Test(
        arguments: [
            ("SID=31d4d96e407aad42; lang=en-US", ["SID=31d4d96e407aad42", "lang=en-US"]),
            ("a=b=c;d=;e", ["a=b=c", "d="]), (" a = \"x\" ;; =y", ["a=\"x\""]), ("", []),
        ] as [(String, [String])]
    )
    func parsesCookieHeaderAsList(text: String, cookies: [String]) {
        #expect(Cookie.list(parsing: text).map(\.rawValue) == cookies)
    }

    @Test(
        arguments: [
            Cookie("", ""), Cookie("", "a=x"), Cookie("a b", "x"), Cookie("a=", "x"), Cookie("a", "x; b=y"),
            Cookie("a", "x\r\nX-Evil: 1"),
            Cookie("a", "\0"), Cookie("a", " x"), Cookie("a\r\n", "x"), Cookie("ä", "x"),
        ]
    )
    func invalidNamesAndValuesAreRejected(_ cookie: Cookie) {
        #expect(throws: InvalidValue.self) { try cookie.validated() }
    }

    @Test func cookiesAreJoinedWithSemicolons() {
        #expect(HTTPField.cookie(Cookie("a", "1"), Cookie("b", "x y")).value == "a=1; b=x y")
        #expect("\(Cookie("a", "hush"))" == "a=<redacted>" && "\(SetCookie("a", "hush"))" == "a=<redacted>")
    }

    @Test(
        arguments: [
            // RFC 6265, 3.1.
            ("SID=31d4d96e407aad42; Path=/; Domain=example.com", "SID=31d4d96e407aad42; Domain=example.com; Path=/"),
            ("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", "SID=31d4d96e407aad42; Path=/; Secure; HttpOnly"),
            ("lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT"),
            ("lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT"),
            // The same attributes in other spellings.
            ("a=b;DOMAIN=.Example.COM;secure=x;httponly=", "a=b; Domain=example.com; Secure; HttpOnly"),
            (" a = b = c ; max-age = 5 ; samesite=LAX", "a=b = c; Max-Age=5; SameSite=Lax"),
            ("a=\"b c\",d; SameSite=strict; samesite=None", "a=\"b c\",d; SameSite=None"),
            ("a=b; path=x; domain=; domain=.; max-age=1.5; expires=never; unknown=x; =; ;;", "a=b"),
            ("a=b; path=/x; path=y", "a=b"), ("a=b; max-age=-5", "a=b; Max-Age=0"),
            ("a=b; max-age=99999999999999999999", "a=b; Max-Age=1000000000"),
            ("a=b; max-age=0; max-age=x", "a=b; Max-Age=0"),
            // Without a name (RFC 6265bis, 5.6).
            ("foo", "foo"), ("=foo; path=/x", "foo; Path=/x"),
            // Neither domain is a host name, and both are kept unchanged.
            ("a=b; Domain=..x", "a=b; Domain=..x"), ("a=b; Domain= .  x", "a=b; Domain=.  x"),
        ] as [(String, String)]
    )
    func parsesSetCookieFields(text: String, printed: String) throws {
        let cookie = try #require(SetCookie(parsing: text))

        #expect(cookie.rawValue == printed)
        #expect(SetCookie(parsing: printed) == cookie)
    }

    @Test(
        arguments: [
            "", "=", "; a=b", "__Host-a", "=__Secure-a=b", "__Http-a", "=__HOST-HTTP-a=b", "a=b\r\n", "a=\0",
            "a=b; path=/\n",
            "a=" + String(repeating: "x", count: 4096),
        ]
    )
    func fieldIgnoredByBrowsersIsInvalid(_ text: String) {
        #expect(SetCookie(parsing: text) == nil)
    }

    @Test func namelessCookieIsSentAsItsValue() throws {
        let cookie = try #require(SetCookie(parsing: "foo; Secure")?.cookie)

        #expect(cookie == Cookie("", "foo") && HTTPHeaders([.cookie(cookie)])[.cookie] == "foo")
        let (jar, home) = (CookieJar(), try #require(URL(string: "https://example.com/")))
        jar.store([SetCookie("", "foo"), SetCookie("a", "b")], from: home)
        #expect(jar.cookies(for: home).map(\.rawValue) == ["foo", "a=b"])
    }

    @Test func overlongAttributesAreIgnored() throws {
        let longest = "/" + String(repeating: "x", count: 1023)
        #expect(SetCookie(parsing: "a=b; Path=\(longest)")?.path == longest)
        let path = "/" + String(repeating: "x", count: 1024)

        #expect(try #require(SetCookie(parsing: "a=b; path=\(path); secure")).path == nil)
        #expect(try #require(SetCookie(parsing: "a=b; path=\(path); secure")).isSecure)
        #expect(SetCookie(parsing: "a=" + String(repeating: "x", count: 4095)) != nil)
    }

    @Test(
        arguments: [
            ("Wed, 09 Jun 2021 10:18:14 GMT", "Wed, 09 Jun 2021 10:18:14 GMT"),
            ("Wednesday, 09-Jun-21 10:18:14 GMT", "Wed, 09 Jun 2021 10:18:14 GMT"),
            ("10:18:14 9 june 70", "Tue, 09 Jun 1970 10:18:14 GMT"),
            ("2069 1:2:3 JANvier 1", "Tue, 01 Jan 2069 01:02:03 GMT"),
            ("9 Jun 2021 10:18:14GMT", "Wed, 09 Jun 2021 10:18:14 GMT"),
            ("1 Jan 69 0:0:0", "Tue, 01 Jan 2069 00:00:00 GMT"),
            ("9 Jun 1600 10:18:14", nil), ("31 Feb 2021 10:18:14", nil), ("9 Jun 2021 24:18:14", nil),
            ("9 Jun 2021 10:60:14", nil), ("9 Jun 2021 10:18:60", nil), ("9 Jun 2021", nil), ("", nil),
            ("::: ; ,", nil),
            ("99 Jun 99999 10:18:14", nil), ("9 Jun 2021 10:18", nil), ("123 Jun 21 10:18:14", nil),
        ] as [(String, String?)]
    )
    func parsesDateComponentsInAnyOrder(text: String, date: String?) {
        #expect(SetCookie(parsing: "a=b; Expires=\(text)")?.expires?.rawValue == date)
    }

    @Test func maxAgeOverridesExpires() {
        let now = Date(timeIntervalSince1970: 1000)
        var cookie = SetCookie("a", "b")
        #expect(cookie.expirationDate(receivedAt: now) == nil)

        cookie.expires = HTTPDate(Date(timeIntervalSince1970: 5))
        #expect(cookie.expirationDate(receivedAt: now) == Date(timeIntervalSince1970: 5))
        cookie.maxAge = .seconds(1)
        #expect(cookie.expirationDate(receivedAt: now) == Date(timeIntervalSince1970: 1001))
        cookie.maxAge = .zero
        #expect(cookie.expirationDate(receivedAt: now) == .distantPast)
    }

    @Test func invalidAttributesAreRejected() {
        for change in [\SetCookie.domain, \.path] {
            for text in ["x; Secure", "x\r\nX-Evil: 1", "\0"] {
                var cookie = SetCookie("a", "b")
                cookie[keyPath: change] = text
                #expect(throws: InvalidValue.self) { try cookie.validated() }
            }
        }
        #expect(throws: InvalidValue.self) { try SetCookie("a", "b;c").validated() }
    }

    @Test func invalidCookieErrorNamesItsField() {
        let set = #expect(throws: InvalidValue.self) { try SetCookie("a b", "c").validated() }
        let sent = #expect(throws: InvalidValue.self) { try Cookie("a b", "c").validated() }

        #expect(set?.field == .setCookie && sent?.field == .cookie)
        #expect(set?.description == "the Set-Cookie field has a cookie with an invalid name, “a b”")
        #expect(sent?.description == "the Cookie field has a cookie with an invalid name, “a b”")
    }
}

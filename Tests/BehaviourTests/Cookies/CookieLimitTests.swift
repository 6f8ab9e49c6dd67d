// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The limits of a cookie jar, whatever servers send.
@Suite(.bounded) struct CookieLimitTests {
    private let clock = ManualDate(.ofCookies)

    private func jar() -> CookieJar { CookieJar { clock.now } }

    @Test func cookiesPerHostAreLimited() {
        let jar = jar()
        jar.receive("mine=1", from: "https://example.org/")

        let count = Scale.pick(500, whole: 10_000)
        for index in 0..<count { jar.receive("a\(index)=b", from: "https://example.com/") }

        let names = jar.cookies.filter { $0.domain == "example.com" }.map(\.name)
        #expect(names == (count - 50..<count).map { "a\($0)" })
        #expect(jar.sent(to: "https://example.org/") == "mine=1")
    }

    @Test func totalNumberOfCookiesIsLimited() {
        let jar = jar()

        let count = Scale.pick(4000, whole: 10_000)
        for index in 0..<count { jar.receive("a=b", from: "https://h\(index).example.com/") }

        #expect(2700...3000 ~= jar.cookies.count)
        #expect(jar.cookies.last?.domain == "h\(count - 1).example.com")
    }

    @Test func recentlyUsedCookiesAreKept() {
        let jar = jar()
        for index in 0..<50 { jar.receive("a\(index)=b; Path=/\(index)", from: "https://h/") }

        #expect(jar.sent(to: "https://h/0") == "a0=b")
        jar.receive("new=b", from: "https://h/")

        #expect(jar.sent(to: "https://h/0") == "a0=b; new=b" && jar.sent(to: "https://h/1") == "new=b")
        #expect(jar.cookies.count == 50)
    }

    @Test func expiredCookiesAreEvictedFirst() {
        let jar = jar()
        for index in 0..<49 { jar.receive("a\(index)=b", from: "https://h/") }
        jar.receive("old=b; Max-Age=1", from: "https://h/")
        clock.advance(by: 1)

        jar.receive("new=b", from: "https://h/")

        #expect(jar.cookies.map(\.name) == (0..<49).map { "a\($0)" } + ["new"])
    }

    @Test func insecureCookiesDoNotEvictSecureOnes() {
        let jar = jar()
        for index in 0..<49 { jar.receive("s\(index)=1; Secure", from: "https://h/") }

        for index in 0..<100 { jar.receive("a\(index)=1", from: "http://h/") }

        #expect(jar.cookies.filter(\.isSecure).count == 49)
        #expect(jar.cookies.last?.name == "a99")
    }

    @Test func cookieFieldLengthIsLimited() {
        let jar = jar()
        let value = String(repeating: "x", count: 2000)

        for index in 0..<50 { jar.receive("a\(index)=\(value); Domain=example.com", from: "https://x.example.com/") }

        #expect(jar.sent(to: "https://example.com/").utf8.count <= 16_384)
        #expect(jar.sent(to: "https://example.com/").hasPrefix("a0=x"))
        #expect(jar.cookies.count == 50)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct CookieJarTests {
    private let clock = ManualDate(.ofCookies)

    private func jar() -> CookieJar { CookieJar { clock.now } }

    @Test func cookiesAreSortedByPathLengthThenAge() {
        let jar = jar()
        jar.receive("a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/", from: "https://a.example.com/")
        jar.receive("e=5; Path=/x; Domain=example.com", from: "https://a.example.com/")
        #expect(jar.sent(to: "https://a.example.com/x/y/z") == "b=2; c=3; e=5; a=1; d=4")

        jar.receive("a=new; Path=/", from: "https://a.example.com/")
        #expect(jar.sent(to: "https://a.example.com/") == "a=new; d=4")
    }

    @Test func newCookieReplacesExistingOne() {
        let jar = jar()
        let start = clock.now
        jar.receive("a=1; Path=/; Max-Age=5", from: "https://h/")
        clock.advance(by: 1)

        jar.receive("a=2; Path=/; HttpOnly; SameSite=Lax", from: "https://h/")

        #expect(jar.cookies.map(\.value) == ["2"])
        #expect(jar.cookies.first?.created == start)
        #expect(jar.cookies.first?.expires == nil)
        #expect(jar.cookies.first?.isHTTPOnly == true && jar.cookies.first?.sameSite == .lax)
    }

    @Test func cookieIdentityIncludesDomainAndPath() {
        let jar = jar()

        jar.receive("a=1; Path=/", "a=2; Path=/x", "a=3; Path=/; Domain=example.com", from: "https://example.com/")

        #expect(jar.sent(to: "https://example.com/x") == "a=2; a=1; a=3")
    }

    @Test func jarsDoNotShareCookies() {
        let jar = jar()

        jar.receive("a=1", from: "https://h/")

        #expect(self.jar().cookies.isEmpty)
    }

    @Test func selectedCookiesAreRemoved() throws {
        let jar = jar()
        jar.receive("a=1", "b=2; Secure", "c=3", from: "https://h/")

        jar.remove { $0.name == "a" || $0.isSecure }
        #expect(jar.cookies.map(\.name) == ["c"])
        #expect(throws: CancellationError.self) { try jar.remove { _ in throw CancellationError() } }
        #expect(jar.cookies.count == 1)

        jar.removeAll()
        #expect(jar.cookies.isEmpty && jar.sent(to: "https://h/") == "")
    }

    @Test func cookieReplacedDuringRemovalIsKept() {
        let jar = jar()
        jar.receive("a=1", "b=1", from: "https://h/")

        jar.remove { _ in
            jar.receive("a=2", from: "https://h/")
            return true
        }

        #expect(jar.sent(to: "https://h/") == "a=2")
    }

    @Test func descriptionsOmitValues() throws {
        let jar = jar()
        jar.receive("a=hush; Domain=example.com", from: "https://example.com/")
        let cookie = try #require(jar.cookies.first)
        var dumped = ""
        dump(cookie, to: &dumped)
        dump(jar, to: &dumped)

        #expect("\(cookie)" == "a=<redacted> for *.example.com/")
        for text in [String(reflecting: cookie), "\(jar)", String(reflecting: jar), "\(jar.cookies)", dumped] {
            #expect(!text.contains("hush"))
        }
    }

    @Test func cookieFieldOmitsInvalidCookies() throws {
        final class Broken: CookieStorage {
            func cookies(for url: URL) -> [Cookie] {
                [Cookie("cart[id]", "\"1\""), Cookie("a", "b\r\nX-Evil: 1"), Cookie("c;d", "e"), Cookie("ä", "ö")]
            }
            func store(_ cookies: [SetCookie], from url: URL) {}
        }
        let url = try #require(URL(string: "https://h/"))

        #expect(Broken().field(for: url)?.value == "cart[id]=\"1\"; ä=ö")
        #expect(Broken().field(for: url)?.name == .cookie)
        #expect(jar().field(for: url) == nil)
    }
}

@Suite(.bounded) struct CookieJarRaceTests {
    @Test func storingRacesReadingAndRemoving() throws {
        let url = try #require(URL(string: "https://a.example.com/"))
        for _ in 0..<Scale.races {
            let jar = CookieJar { Date.ofCookies }
            let cookies = (0..<8).map { SetCookie("a\($0)", "b") }

            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                switch thread {
                case 0: jar.store(cookies, from: url)
                case 1: for _ in 0..<4 { _ = (jar.cookies(for: url), jar.cookies) }
                case 2: jar.removeAll()
                default: jar.remove { $0.name == "a1" }
                }
            }

            // Readers see all cookies of one call or none, never a part of a response.
            #expect([0, 7, 8].contains(jar.cookies.count))
            #expect(jar.cookies(for: url).map(\.name) == jar.cookies.map(\.name))
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

/// The limits of a jar, for any input of servers.
@Suite(.bounded) struct CookieLimitTests {
    private let clock = CookieClock()

    private func jar() -> CookieJar { CookieJar { clock.now } }

    @Test(.tags(.behaviour)) func floodOfOneHostStaysBounded() {
        let jar = jar()
        jar.receive("mine=1", from: "https://example.org/")

        let count = Scale.pick(500, whole: 10_000)
        for index in 0..<count { jar.receive("a\(index)=b", from: "https://example.com/") }

        let names = jar.cookies.filter { $0.domain == "example.com" }.map(\.name)
        #expect(names == (count - 50..<count).map { "a\($0)" })
        #expect(jar.sent(to: "https://example.org/") == "mine=1")
    }

    @Test(.tags(.behaviour)) func floodOfManyHostsStaysBounded() {
        let jar = jar()

        let count = Scale.pick(4000, whole: 10_000)
        for index in 0..<count { jar.receive("a=b", from: "https://h\(index).example.com/") }

        #expect(2700...3000 ~= jar.cookies.count)
        #expect(jar.cookies.last?.domain == "h\(count - 1).example.com")
    }

    @Test(.tags(.behaviour)) func recentlyUsedCookiesStay() {
        let jar = jar()
        for index in 0..<50 { jar.receive("a\(index)=b; Path=/\(index)", from: "https://h/") }

        #expect(jar.sent(to: "https://h/0") == "a0=b")
        jar.receive("new=b", from: "https://h/")

        #expect(jar.sent(to: "https://h/0") == "a0=b; new=b" && jar.sent(to: "https://h/1") == "new=b")
        #expect(jar.cookies.count == 50)
    }

    @Test(.tags(.behaviour)) func expiredCookiesAreRemovedFirst() {
        let jar = jar()
        for index in 0..<49 { jar.receive("a\(index)=b", from: "https://h/") }
        jar.receive("old=b; Max-Age=1", from: "https://h/")
        clock.advance(by: 1)

        jar.receive("new=b", from: "https://h/")

        #expect(jar.cookies.map(\.name) == (0..<49).map { "a\($0)" } + ["new"])
    }

    @Test(.tags(.behaviour)) func openConnectionsDoNotDriveOutSecureCookies() {
        let jar = jar()
        for index in 0..<49 { jar.receive("s\(index)=1; Secure", from: "https://h/") }

        for index in 0..<100 { jar.receive("a\(index)=1", from: "http://h/") }

        #expect(jar.cookies.filter(\.isSecure).count == 49)
        #expect(jar.cookies.last?.name == "a99")
    }

    @Test(.tags(.behaviour)) func oneRequestTakesNoMoreThanServersRead() {
        let jar = jar()
        let value = String(repeating: "x", count: 2000)

        for index in 0..<50 { jar.receive("a\(index)=\(value); Domain=example.com", from: "https://x.example.com/") }

        #expect(jar.sent(to: "https://example.com/").utf8.count <= 16_384)
        #expect(jar.sent(to: "https://example.com/").hasPrefix("a0=x"))
        #expect(jar.cookies.count == 50)
    }

    @Test func countsAgreeWithWhatIsThere() {
        var fuzz = Fuzz()
        var store = CookieStore()
        let hosts = ["a.example.com", "b.example.com", "example.com", "example.org"]
        for _ in 0..<Scale.pick(1000, whole: 5000) {
            let isSecure = Bool.random(using: &fuzz)
            let url = URL(string: "\(isSecure ? "https" : "http")://\(hosts.randomElement(using: &fuzz) ?? "")/")
            guard let address = url.flatMap(CookieAddress.init) else { continue }
            var cookie = SetCookie("a\(Int.random(in: 0..<80, using: &fuzz))", "b")
            cookie.domain = Bool.random(using: &fuzz) ? "example.com" : nil
            cookie.isSecure = Bool.random(using: &fuzz)
            cookie.maxAge = [nil, .zero, .seconds(3)].randomElement(using: &fuzz) ?? nil
            clock.advance(by: Bool.random(using: &fuzz) ? 1 : 0)
            if let cookie = try? StoredCookie(cookie, from: address, at: clock.now) {
                try? store.insert(cookie, isSecure: isSecure, at: clock.now)
            }
            if Int.random(in: 0..<50, using: &fuzz) == 0 { store.remove(store.cookies(at: clock.now).suffix(3)) }
        }

        clock.advance(by: -100_000)
        #expect(store.count == store.cookies(at: clock.now).count)
        store.remove(store.cookies(at: clock.now))
        #expect(store.count == 0)
        #expect(store.isEmpty)
    }
}

extension CookieStore {
    /// Whether no index has any entry.
    fileprivate var isEmpty: Bool {
        Mirror(reflecting: self).children.compactMap { $0.value as? any Collection }.allSatisfy(\.isEmpty)
    }
}

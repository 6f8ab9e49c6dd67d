// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Fuzzed cookies of servers: nothing traps, memory is bounded, and no host gets a cookie of another.
@Suite(.bounded) struct CookieFuzzTests {
    private static let words = [
        "a=b", "sid=1", "__Host-a=1", "__Secure-b=2", "; Path=/", "; Path=", "/x", "; Domain=", "; Domain=.",
        "example.com", "a.example.com", "evil.org", "com", "localhost", "127.0.0.1", "::1", "; Max-Age=", "0", "60",
        "; Expires=", "Wed, 09 Jun 2027 10:18:14 GMT", "; Secure", "; SameSite=None", "; HttpOnly", ";", "=", ".", " ",
        "\t", "\r\n", "\0", "%", "ä", "\u{301}",
    ]
    private static let hosts = [
        "example.com", "a.example.com", "b.a.example.com", "evil.org", "example.com.evil.org", "com", "localhost",
        "a.localhost", "127.0.0.1", "1.127.0.0.1", "[::1]", "badexample.com", "EXAMPLE.COM", "example.com.",
    ]

    private static let places = hosts.flatMap { host in
        ["https", "http"].flatMap { scheme in
            ["", "/", "/x", "/x/y", "//", "/xy?/z"].compactMap { path in
                URL(string: "\(scheme)://\(host)\(path)").flatMap { url in CookieAddress(url).map { (url, $0) } }
            }
        }
    }

    /// Whether a host may get a cookie of another: it is the same host, or they share a domain of two labels.
    private static func mayHear(_ one: String, of other: String) -> Bool {
        if one == other { return true }
        let labels = [one, other].map { $0.split(separator: ".").suffix(2) }
        let areNames = [one, other].allSatisfy { $0.contains(where: \.isLetter) && !$0.contains(":") }
        return areNames && labels[0].count == 2 && labels[0] == labels[1]
    }

    @Test func cookiesAreSentOnlyToMatchingHosts() throws {
        var fuzz = Fuzz()
        let clock = ManualDate(.ofCookies)
        var jar = CookieJar { clock.now }
        var count = 0
        let audible = Dictionary(
            Self.places.map { _, target in
                let hosts = Set(Self.places.map(\.1.host)).filter { Self.mayHear(target.host, of: $0) }
                return (target, Set(hosts.flatMap { ["\($0) false"] + (target.isSecure ? ["\($0) true"] : []) }))
            },
            uniquingKeysWith: { one, _ in one }
        )
        for step in 0..<Scale.fuzz() {
            if step % 64 == 0 { jar = CookieJar { clock.now } }
            guard let (from, source) = Self.places.randomElement(using: &fuzz),
                let (to, target) = Self.places.randomElement(using: &fuzz)
            else { continue }
            // The value says which host set it, and how.
            var cookie = SetCookie(parsing: fuzz.text(of: Self.words)) ?? SetCookie(fuzz.text(of: Self.words), "")
            cookie.value = "\(source.host) \(cookie.isSecure)"
            jar.store([cookie], from: from)

            let sent = jar.cookies(for: to)
            let isRight = sent.allSatisfy { audible[target, default: []].contains($0.value) && $0.isWellFormed }
            count += sent.count
            guard isRight else {
                Issue.record("\(from) set \(cookie.rawValue.debugDescription), \(to) got \(sent), seed \(Fuzz.seed)")
                return
            }
        }
        // Otherwise nothing was tested.
        #expect(count > Scale.fuzz() / 4)
    }

    @Test func cookieLimitsAreEnforced() {
        var fuzz = Fuzz()
        let clock = ManualDate(.ofCookies)
        let jar = CookieJar { clock.now }
        for step in 0..<Scale.fuzz(weight: 4) {
            guard let (url, _) = Self.places.randomElement(using: &fuzz) else { continue }
            var cookie = SetCookie("n\(step)", fuzz.text(of: Self.words))
            cookie.domain = Self.hosts.randomElement(using: &fuzz)
            cookie.path = fuzz.text(of: Self.words)
            cookie.maxAge = .seconds(Int.random(in: -1...100_000, using: &fuzz))
            jar.store([cookie], from: url)
            if step % 1000 == 0 {
                let counts = Dictionary(grouping: jar.cookies, by: \.domain).mapValues(\.count)
                guard counts.values.allSatisfy({ $0 <= CookieStore.maximumPerDomain }) else {
                    Issue.record("\(counts), seed \(Fuzz.seed)")
                    return
                }
            }
        }
        for host in Self.hosts {
            let size = jar.sent(to: "https://\(host)/").utf8.count
            #expect(size <= CookieStore.maximumFieldSize)
        }
    }
}

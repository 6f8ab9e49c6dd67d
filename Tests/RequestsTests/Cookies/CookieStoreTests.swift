// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct CookieStoreTests {
    @Test func countsMatchStoredCookies() {
        var fuzz = Fuzz()
        let clock = ManualDate(.ofCookies)
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
            if let cookie = try? CookieJar.StoredCookie(cookie, from: address, at: clock.now) {
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CacheKeyTests {
    private func key(_ url: String, _ headers: HTTPHeaders = []) throws -> CacheKey {
        CacheKey(CacheSample.get(try #require(URL(string: url)), headers))
    }

    @Test(arguments: [
        "HTTPS://API.example.com/a", "https://api.example.com:443/a", "https://api.example.com/a#fragment",
    ])
    func equivalentURLsShareKey(url: String) throws {
        #expect(try key(url) == key("https://api.example.com/a"))
    }

    @Test func emptyPathEqualsRootPath() throws {
        #expect(try key("http://example.com") == key("http://example.com:80/"))
    }

    @Test(arguments: [
        "http://api.example.com/a", "https://api.example.com:8443/a", "https://api.example.com/A",
        "https://api.example.com/a/", "https://api.example.com/a?", "https://api.example.com/a?b",
        "https://user@api.example.com/a", "https://example.com/a",
    ])
    func differentURLsHaveDifferentKeys(url: String) throws {
        #expect(try key(url) != key("https://api.example.com/a"))
        #expect(try key(url).resource != key("https://api.example.com/a").resource)
    }

    static let credentials: [HTTPHeaders] = [
        [], [.authorization: "Bearer a"], [.authorization: "Bearer b"], [.authorization: ""], [.cookie: "Bearer a"],
        [.apiKey: "a"], [HTTPField("X-Session", "a"), HTTPField(HTTPField.Name("X-Session", isSensitive: true), "a")],
        [HTTPField(HTTPField.Name("X-Session", isSensitive: true), "a")], [.cookie: "a=1", .authorization: "Bearer a"],
        [.proxyAuthorization: "Bearer a"], [.host: "other.example.com"],
    ]

    @Test func keysDifferByUser() throws {
        let keys = try Self.credentials.map { try key("https://api.example.com/a", $0) }

        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(\.resource)).count == 1)
    }

    @Test func fieldOrderDoesNotAffectKey() throws {
        let headers: HTTPHeaders = [.authorization: "Bearer a", .cookie: "a=1", .accept: "*/*"]
        let others: HTTPHeaders = [.accept: "text/plain", .cookie: "a=1", .authorization: "Bearer a"]

        #expect(try key("https://a.example", headers) == key("https://a.example", others))
    }

    @Test func keysDifferByVariant() {
        let languages: [HTTPHeaders] = [
            [], [.acceptLanguage: ""], [.acceptLanguage: "en"], [.acceptLanguage: "de"],
            [HTTPField(.acceptLanguage, "en"), HTTPField(.acceptLanguage, "de")],
        ]

        let keys = languages.map { CacheKey(CacheSample.get($0), varyingBy: [.acceptLanguage]) }

        #expect(Set(keys + [CacheKey(CacheSample.get())]).count == keys.count + 1)
        #expect(CacheKey(CacheSample.get([.acceptLanguage: " en "]), varyingBy: ["accept-language"]) == keys[2])
    }

    @Test(arguments: [
        ([HTTPField("Foo", "1, 2")], [HTTPField("Foo", "1"), HTTPField("Foo", "2")]),
        ([HTTPField("Foo", "1,2")], [HTTPField("Foo", " 1 , 2 ")]),
        ([HTTPField(.acceptLanguage, "en, de;q=0.5")], [HTTPField(.acceptLanguage, "EN,De; q=0.5")]),
    ])
    func equivalentFieldsShareVariant(one: [HTTPField], other: [HTTPField]) {
        let keys = [one, other].map {
            CacheKey(CacheSample.get(HTTPHeaders($0)), varyingBy: ["Foo", .acceptLanguage])
        }

        #expect(keys[0] == keys[1])
    }

    @Test func keyRevealsNoRequestData() throws {
        let key = try key("https://api.example.com/a?token=hunter2", [.authorization: "Bearer hunter2"])

        #expect(key.resource.utf8.count == 32 && key.name.utf8.count == 96)
        #expect([key.resource, key.name].allSatisfy { $0.allSatisfy(\.isHexDigit) })
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct FoundationCookieStorageTests {
    private let foundation: HTTPCookieStorage
    private let cookies: FoundationCookieStorage

    init() throws {
        // In memory, and not shared with other tests.
        foundation = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        cookies = FoundationCookieStorage(foundation)
    }

    private func put(_ name: String, domain: String, path: String = "/", isSecure: Bool = false) throws {
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: domain, .path: path]
        if isSecure { properties[.secure] = "TRUE" }
        foundation.setCookie(try #require(HTTPCookie(properties: properties)))
    }

    @Test func urlSessionCookiesObeyDomainAndPathMatching() throws {
        try put("host", domain: "example.com")
        try put("domain", domain: ".example.com")
        try put("path", domain: "example.com", path: "/x")
        try put("secure", domain: "example.com", path: "/secure", isSecure: true)

        #expect(Set(names(to: "http://example.com/")) == ["host", "domain"])
        #expect(names(to: "http://www.example.com/") == ["domain"])
        #expect(names(to: "http://example.com/x/y").first == "path" && names(to: "http://example.com/x/y").count == 3)
        #expect(names(to: "http://example.com/xy").count == 2)
        #expect(names(to: "https://example.com/secure").first == "secure")
        #expect(names(to: "http://example.com/secure").count == 2)
        #expect(names(to: "https://badexample.com/") == [] && names(to: "https://example.org/") == [])
    }

    private func names(to address: String) -> [String] {
        URL(string: address).map(cookies.cookies(for:))?.map(\.name) ?? []
    }

    @Test func responseCookieIsStoredForURLSession() throws {
        cookies.receive(
            "a=\"x,y=\"; Secure; HttpOnly; Domain=example.com; Path=/x; Max-Age=60",
            from: "https://www.example.com/"
        )
        cookies.receive("b=2", from: "https://www.example.com/")

        let stored = try #require(foundation.cookies)
        let first = try #require(stored.first { $0.name == "a" })
        #expect(first.value == "\"x,y=\"" && first.domain == ".example.com" && first.path == "/x")
        #expect(first.isSecure && first.isHTTPOnly && !first.isSessionOnly && first.expiresDate != nil)
        let second = try #require(stored.first { $0.name == "b" })
        #expect(second.domain == "www.example.com" && second.isSessionOnly && !second.isSecure)
        #expect(cookies.sent(to: "https://www.example.com/x") == "a=\"x,y=\"; b=2")
    }

    @Test(arguments: [
        "a=b; Domain=com", "a=b; Domain=example.org", "a=b; Secure", "__Host-a=b", "a=b; Domain=www.example.com",
    ])
    func cookieViolatingRulesIsRejected(field: String) {
        cookies.receive(field, from: "http://example.com/")

        #expect(foundation.cookies ?? [] == [])
    }

    @Test func secureCookiesCannotBeOverwrittenOverHTTP() {
        cookies.receive("a=1; Secure; Path=/", from: "https://example.com/")

        cookies.receive("a=2; Path=/", "a=; Path=/; Max-Age=0", from: "http://example.com/")

        #expect(cookies.sent(to: "https://example.com/") == "a=1")
    }

    @Test func cookiesAreReplacedAndDeleted() {
        cookies.receive("a=1", "b=1; Domain=example.com", "c=1; Max-Age=60", from: "https://example.com/")

        cookies.receive("a=; Max-Age=0", "b=; Max-Age=0", "c=2", from: "https://example.com/")

        #expect(cookies.sent(to: "https://example.com/") == "b=1; c=2")
    }

    @Test func neverAcceptPolicyIsRespected() {
        foundation.cookieAcceptPolicy = .never

        cookies.receive("a=1", from: "https://example.com/")

        #expect(foundation.cookies ?? [] == [])
    }
}

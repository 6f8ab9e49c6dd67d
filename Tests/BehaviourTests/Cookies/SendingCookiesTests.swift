// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct SendingCookiesTests {
    private let home = URL(string: "https://example.com/login")!

    @Test func cookieIsSentBackToItsServer() async throws {
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: [.setCookie: "a=1; Path=/", .setCookie: "b=2; Path=/"]),
            .status(.ok),
        ])
        let client = HTTPClient(transport: transport)

        for _ in 1...2 { _ = try await client.fetch(HTTPRequest(url: home)) }

        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "a=1; b=2"])
    }

    @Test func redirectSendsCookiesOfItsTarget() async throws {
        let jar = CookieJar()
        try jar.set(SetCookie("here", "1"), for: home)
        try jar.set(SetCookie("there", "2"), for: URL(string: "https://other.example/")!)
        let transport = InMemoryTransport { request in
            switch request.url.absoluteString {
            case "https://example.com/login":
                .status(.found, headers: [.location: "https://other.example/", .setCookie: "new=3; Path=/"])
            case "https://other.example/":
                .status(
                    .found,
                    headers: [.location: "https://example.com/end", .setCookie: "evil=4; Domain=example.com"]
                )
            default: .status(.ok)
            }
        }
        let client = HTTPClient(transport: transport) { $0.cookies = jar }

        _ = try await client.fetch(HTTPRequest(url: home, headers: [.cookie: "own=0"]))

        #expect(transport.requests.map { $0.headers[.cookie] } == ["own=0; here=1", "there=2", "here=1; new=3"])
    }

    @Test func explicitCookieOverridesStoredCookie() async throws {
        let jar = CookieJar()
        try jar.set(SetCookie("session", "jar"), for: home)
        try jar.set(SetCookie("theme", "dark"), for: home)
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(transport: transport) { $0.cookies = jar }

        _ = try await client.fetch(HTTPRequest(url: home, headers: [.cookie: "session=own"]))

        let sent = try #require(transport.requests.first)
        #expect(sent.headers[values: .cookie] == ["session=own; theme=dark"])
    }

    @Test func namelessCookieIsSentWithExplicitCookie() async throws {
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.setCookie: "token"]) }
        let client = HTTPClient(transport: transport)

        for _ in 1...2 { _ = try await client.fetch(HTTPRequest(url: home, headers: [.cookie: "own=0"])) }

        #expect(transport.requests.map { $0.headers[.cookie] } == ["own=0", "own=0; token"])
    }

    @Test func cookiesCanBeDisabled() async throws {
        let jar = CookieJar()
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.setCookie: "a=1"]) }
        let without = HTTPClient(transport: transport) { $0.cookies = nil }
        let with = HTTPClient(transport: transport) { $0.cookies = jar }

        for _ in 1...2 { _ = try await without.fetch(HTTPRequest(url: home)) }
        let request = Get<Data>().modified { $0.http = HTTPRequest(url: URL(string: "https://example.com/")!) }
        _ = try await with.fetch(request.options { $0.usesCookies = false })

        #expect(transport.requests.allSatisfy { !$0.headers.contains(.cookie) } && jar.cookies.isEmpty)
    }

    @Test func clientsHaveSeparateCookieJars() async throws {
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.setCookie: "a=1"]) }

        for _ in 1...2 { _ = try await HTTPClient(transport: transport).fetch(HTTPRequest(url: home)) }

        #expect(transport.requests.allSatisfy { !$0.headers.contains(.cookie) })
    }
}

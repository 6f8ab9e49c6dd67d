// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

/// The users whose responses a client with a cookie jar gets from its cache.
@Suite(.bounded, .tags(.behaviour)) struct CacheIdentityTests {
    /// A server whose responses name the user, and which sets the cookies that a path requests.
    private let transport = InMemoryTransport { request in
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        var headers: HTTPHeaders = [:]
        for item in items where item.name == "set" { headers.add(item.value ?? "", for: .setCookie) }
        let isFresh = request.url.path.hasPrefix("/v1/fresh")
        let isSecret = request.url.path.hasSuffix("secret")
        headers[.cacheControl] = isFresh ? "max-age=3600" : isSecret ? "no-store" : "no-cache"
        return .status(.ok, headers: headers, body: Data((request.headers[.cookie] ?? "").utf8))
    }

    private func makeClient(_ identity: CacheIdentity = .automatic, _ cache: ResponseCache? = nil) -> HTTPClient {
        HTTPClient(baseURL: server, transport: transport) {
            $0.cache = cache ?? ResponseCache(identity: identity)
        }
    }

    private func get(
        _ path: String,
        setting cookie: String? = nil,
        method: HTTPMethod = .get,
        from client: HTTPClient
    ) async throws -> String {
        var url = server.appending(path: path)
        if let cookie { url.append(queryItems: [URLQueryItem(name: "set", value: "\(cookie); Path=/")]) }
        return try await text(of: HTTPRequest(url: url, method: method), from: client)
    }

    private func text(of request: HTTPRequest, from client: HTTPClient) async throws -> String {
        String(decoding: try await client.send(request).body, as: UTF8.self)
    }

    /// Returns the number of requests to the server for four fresh resources, in five rounds.
    private func transfers(of client: HTTPClient, _ disturb: (Int) async throws -> Void) async throws -> Int {
        var count = 0
        for round in 1...5 {
            try await disturb(round)
            let before = transport.requests.count
            for number in 1...4 { _ = try await get("fresh/\(number)", from: client) }
            count += transport.requests.count - before
        }
        return count
    }

    @Test func freshResponsesThatSetChangingCookiesAreReused() async throws {
        let number = Locked(0)
        let transport = InMemoryTransport { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            return .status(.ok, headers: [.cacheControl: "max-age=3600", .setCookie: "session=\(number); HttpOnly"])
        }
        let client = HTTPClient(transport: transport) { $0.cache = ResponseCache() }

        for _ in 1...5 {
            for path in ["a", "b", "c", "d"] {
                _ = try await client.send(HTTPRequest(url: server.appending(path: path)))
            }
        }

        #expect(transport.requests.count == 4)
    }

    @Test(arguments: ["visits", "theme", "AWSALB", "csrftoken", "_ga"])
    func cookiesThatPlainResponsesChangeAreNoUsers(name: String) async throws {
        let client = makeClient()

        let count = try await transfers(of: client) {
            _ = try await get("plain", setting: "\(name)=\($0)", from: client)
        }

        #expect(count == 4)
    }

    @Test func formThatIsSentDoesNotEmptyTheCache() async throws {
        let client = makeClient()
        _ = try await get("plain", setting: "visits=1", from: client)
        for number in 1...4 { _ = try await get("fresh/\(number)", from: client) }

        let count = try await transfers(of: client) { _ in _ = try await get("form", method: .post, from: client) }

        #expect(count == 0)
    }

    @Test(arguments: [
        (HTTPMethod.get, "session"), (.get, "user"), (.get, "PHPSESSID"), (.get, "connect.sid"), (.post, "visits"),
    ])
    func successiveUsersDoNotSeeEachOthersResponses(method: HTTPMethod, name: String) async throws {
        let client = makeClient()

        for user in ["alice", "bob", "alice"] {
            _ = try await get("login", setting: "\(name)=\(user)", method: method, from: client)
            #expect(try await get("fresh/me", from: client) == "\(name)=\(user)")
        }
        #expect(transport.requests.filter { $0.url.path == "/v1/fresh/me" }.count == 2)
    }

    /// The server keeps the value of the session, and knows the user by then.
    @Test func cookieThatALoginKeepsIdentifiesItsUserFromThenOn() async throws {
        let cache = ResponseCache(identity: .automatic)

        for user in ["A", "B"] {
            let client = makeClient(.automatic, cache)
            _ = try await get("fresh/", setting: "connect.sid=\(user)", from: client)
            _ = try await get("login", method: .post, from: client)
            #expect(try await get("fresh/me", from: client) == "connect.sid=\(user)")
        }
    }

    @Test(arguments: ["my_gateway_session", "CF_Authorization", "csrf_session", "user_game_token"])
    func nameThatContainsAHarmlessOneIsNotHarmless(name: String) async throws {
        let client = makeClient()

        for user in ["1", "2"] {
            _ = try await get("plain", setting: "\(name)=\(user)", from: client)
            #expect(try await get("fresh/me", from: client) == "\(name)=\(user)")
        }
    }

    @Test func cookieOfAResponseThatIsNotToBeStoredIdentifiesAUser() async throws {
        let client = makeClient()

        for user in ["1", "2"] {
            _ = try await get("secret", setting: "a=\(user)", from: client)
            #expect(try await get("fresh/me", from: client) == "a=\(user)")
        }
    }

    @Test func scriptsCannotReadACookieThatIdentifiesAUser() async throws {
        let client = makeClient()

        for user in ["1", "2"] {
            _ = try await get("plain", setting: "a=\(user); HttpOnly", from: client)
            #expect(try await get("fresh/me", from: client) == "a=\(user)")
        }
    }

    @Test func cookieThatReplacesALoginIdentifiesTheSameUser() async throws {
        let client = makeClient()

        for user in ["alice", "bob"] {
            _ = try await get("login", setting: "session=\(user)", method: .post, from: client)
            // The server encrypts its session again for each response.
            _ = try await get("fresh/\(user)", setting: "session=\(user)-2", from: client)
            #expect(try await get("fresh/me", from: client) == "session=\(user)-2")
        }
    }

    @Test func loginThatIsSetAgainStaysALogin() async throws {
        let client = makeClient()

        for user in ["alice", "bob"] {
            _ = try await get("login", setting: "a=\(user)", method: .post, from: client)
            _ = try await get("fresh/\(user)", setting: "a=\(user)", from: client)
            #expect(try await get("fresh/me", from: client) == "a=\(user)")
        }
    }

    @Test func cookiesThatTheProgramSetsIdentifyUsers() async throws {
        let client = makeClient()

        for user in ["alice", "bob"] {
            let request = HTTPRequest(url: server.appending(path: "fresh/me"), headers: [.cookie: "a=\(user)"])
            #expect(try await text(of: request, from: client) == "a=\(user)")
        }
    }

    @Test func namedCookiesAreTheOnlyOnesThatCount() async throws {
        let client = makeClient(.cookies(named: ["who"]))
        _ = try await get("login", setting: "who=alice", method: .post, from: client)

        let count = try await transfers(of: client) {
            _ = try await get("plain", setting: "session=\($0)", method: .post, from: client)
        }
        _ = try await get("login", setting: "who=bob", method: .post, from: client)

        #expect(count == 4)
        #expect(try await get("fresh/1", from: client).contains("who=bob"))
    }

    @Test func closureIdentifiesTheUser() async throws {
        let client = makeClient(.custom { $0.headers["X-User"] ?? "" })
        var answers: [String] = []
        for (user, token) in [("1", "a"), ("1", "b"), ("2", "c")] {
            let headers: HTTPHeaders = ["X-User": user, .authorization: token, .cookie: "t=\(token)"]
            answers.append(
                try await text(of: HTTPRequest(url: server.appending(path: "fresh/me"), headers: headers), from: client)
            )
        }

        #expect(answers == ["t=a", "t=a", "t=c"])
    }

    @Test func cookiesOfTheLastRunAreKnownInTheNext() async throws {
        let (folder, jar) = (TemporaryDirectory(), CookieJar())
        func makeClient() throws -> HTTPClient {
            let cache = try ResponseCache(directory: folder.url)
            return HTTPClient(transport: transport) { ($0.cache, $0.cookies) = (cache, jar) }
        }
        let first = try makeClient()
        for number in 1...2 { _ = try await get("fresh/\(number)", setting: "visits=\(number)", from: first) }
        _ = try await get("fresh/3", from: first)

        let second = try makeClient()
        let request = HTTPRequest(url: server.appending(path: "fresh/3")).cachePolicy(.returnCacheDataDontLoad)

        #expect(try await second.send(request).status == .ok)
    }

    @Test func forgottenCookiesCountAgain() {
        var aliases = CookieAliases()
        let url = server
        for number in 0...CookieAliases.limit {
            let head = HTTPResponseHead(status: .ok, headers: [.setCookie: "a=\(number)"])
            aliases.record(head, to: HTTPRequest(url: url), isReusable: true)
        }

        #expect(aliases.entries.count == CookieAliases.limit)
        #expect(aliases.identity(of: "a=0", sentTo: url) == "a=0")
        #expect(aliases.identity(of: "a=1", sentTo: url) == nil)
    }

    @Test func cookieOfOneSiteSaysNothingAboutAnother() throws {
        var aliases = CookieAliases()
        let site = try #require(URL(string: "https://a.example.com/"))
        let headers: HTTPHeaders = [
            HTTPField(.setCookie, "a=1"), HTTPField(.setCookie, "b=1; Domain=example.com"),
            HTTPField(.setCookie, "c=1; Domain=com"), HTTPField(.setCookie, "d=1; Domain=other.example"),
        ]
        aliases.record(HTTPResponseHead(status: .ok, headers: headers), to: HTTPRequest(url: site), isReusable: true)
        func counted(at address: String) throws -> [String] {
            let url = try #require(URL(string: address))
            return ["a=1", "b=1", "c=1", "d=1"].compactMap { aliases.identity(of: $0, sentTo: url) }
        }

        #expect(try counted(at: "https://a.example.com/") == [])
        #expect(try counted(at: "https://b.example.com/") == ["a=1", "c=1", "d=1"])
        #expect(try counted(at: "https://other.example/") == ["a=1", "b=1", "c=1", "d=1"])
    }
}

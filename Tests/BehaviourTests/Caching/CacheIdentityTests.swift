// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The users whose responses a client with a cookie jar gets from its cache.
@Suite(.bounded) struct CacheIdentityTests {
    /// A server whose responses name the user, and which sets the cookies that a path requests.
    private let transport = InMemoryTransport { request in
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        var headers: HTTPHeaders = [:]
        for item in items where item.name == "set" { headers.add(item.value ?? "", for: .setCookie) }
        let isFresh = request.url.path.hasPrefix("/v1/fresh")
        let isSensitive = request.url.path.hasSuffix("secret")
        headers[.cacheControl] = isFresh ? "max-age=3600" : isSensitive ? "no-store" : "no-cache"
        return .status(.ok, headers: headers, body: Data((request.headers[.cookie] ?? "").utf8))
    }

    private func makeClient(
        _ identity: ResponseCache.Identity = .automatic,
        _ cache: ResponseCache? = nil
    ) -> HTTPClient {
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

    /// The login keeps the value of the session cookie, which identifies the user from then on.
    @Test func cookieUnchangedByLoginIdentifiesUser() async throws {
        let cache = ResponseCache(identity: .automatic)

        for user in ["A", "B"] {
            let client = makeClient(.automatic, cache)
            _ = try await get("fresh/", setting: "connect.sid=\(user)", from: client)
            _ = try await get("login", method: .post, from: client)
            #expect(try await get("fresh/me", from: client) == "connect.sid=\(user)")
        }
    }

    /// The response of the login goes to a file.
    @Test func cookieUnchangedByStreamedLoginIdentifiesUser() async throws {
        let cache = ResponseCache(identity: .automatic)

        for user in ["A", "B"] {
            let client = makeClient(.automatic, cache)
            _ = try await get("fresh/", setting: "connect.sid=\(user)", from: client)
            let login = HTTPRequest(url: server.appending(path: "login"), method: .post)
            _ = try await client.fetch(Download(login, to: .temporary))
            #expect(try await get("fresh/me", from: client) == "connect.sid=\(user)")
        }
    }

    @Test func cookiesSetByCallerIdentifyUsers() async throws {
        let client = makeClient()

        for user in ["alice", "bob"] {
            let request = HTTPRequest(url: server.appending(path: "fresh/me"), headers: [.cookie: "a=\(user)"])
            #expect(try await text(of: request, from: client) == "a=\(user)")
        }
    }

    /// The name of the cookie doesn't matter, nor does the method of the request that sets it.
    @Test(arguments: ["v", "visits", "theme", "AWSALB", "csrftoken", "_ga", "_fbp", "lang"], [HTTPMethod.get, .post])
    func cookieWithAnyNameIdentifiesUser(name: String, method: HTTPMethod) async throws {
        let client = makeClient()

        for user in ["alice", "bob", "alice"] {
            _ = try await get("link", setting: "\(name)=\(user)", method: method, from: client)
            #expect(try await get("fresh/me", from: client) == "\(name)=\(user)")
        }
        #expect(transport.requests.filter { $0.url.path == "/v1/fresh/me" }.count == 2)
    }

    @Test func repeatedSetCookieKeepsIdentity() async throws {
        let client = makeClient()

        let count = try await transfers(of: client) { _ in
            _ = try await get("plain", setting: "a=alice", from: client)
        }

        #expect(count == 4)
    }

    @Test func ignoredCookiesDoNotIdentifyUsers() async throws {
        let client = makeClient(.cookies(ignoring: ["visits", "_ga"]))
        _ = try await get("login", setting: "v=alice", method: .post, from: client)

        let count = try await transfers(of: client) {
            _ = try await get("plain", setting: "visits=\($0)", from: client)
            _ = try await get("plain", setting: "_ga=\($0)", method: .post, from: client)
        }
        _ = try await get("link", setting: "v=bob", from: client)

        #expect(count == 4)
        #expect(try await get("fresh/1", from: client).contains("v=bob"))
    }

    /// A name that only looks like an ignored one, and a cookie without a name.
    @Test(arguments: ["Visits=", "visits2=", "x_visits=", "=visits", "visits2", ""])
    func ignoredCookieNamesMustMatchExactly(beginning: String) async throws {
        let client = makeClient(.cookies(ignoring: ["visits"]))

        for user in ["alice", "bob"] {
            let cookie = "visits=1; \(beginning)\(user)"
            let request = HTTPRequest(url: server.appending(path: "fresh/me"), headers: [.cookie: cookie])
            #expect(try await text(of: request, from: client) == cookie)
        }
    }

    @Test func storedResponsesAreReusedAfterRestart() async throws {
        let (folder, jar) = (TemporaryFolder(), CookieJar())
        func makeClient() throws -> HTTPClient {
            let cache = try ResponseCache(directory: folder.url)
            return HTTPClient(transport: transport) { ($0.cache, $0.cookies) = (cache, jar) }
        }
        let first = try makeClient()
        _ = try await get("plain", setting: "visits=1", from: first)
        _ = try await get("fresh/3", from: first)

        let second = try makeClient()
        let request = HTTPRequest(url: server.appending(path: "fresh/3")).cachePolicy(.returnCacheDataDontLoad)

        #expect(try await second.send(request).status == .ok)
    }

    @Test func onlyNamedCookiesIdentifyUsers() async throws {
        let client = makeClient(.cookies(named: ["who"]))
        _ = try await get("login", setting: "who=alice", method: .post, from: client)

        let count = try await transfers(of: client) {
            _ = try await get("plain", setting: "session=\($0)", method: .post, from: client)
        }
        _ = try await get("login", setting: "who=bob", method: .post, from: client)

        #expect(count == 4)
        #expect(try await get("fresh/1", from: client).contains("who=bob"))
    }

    @Test func closureIdentifiesUser() async throws {
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
}

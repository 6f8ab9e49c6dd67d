// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct CachingPolicyTests {
    private let clock = ManualDate()
    private let cache: ResponseCache

    init() {
        cache = ResponseCache(now: { [clock] in clock.now })
    }

    private func client(_ control: String = "max-age=60", _ status: HTTPStatus = .ok) -> (HTTPClient, InMemoryTransport)
    {
        let number = Locked(0)
        let transport = InMemoryTransport { _ in
            let count = number.withLock { number in
                number += 1
                return number
            }
            let headers: HTTPHeaders = control.isEmpty ? [] : [.cacheControl: control]
            return .status(status, headers: headers, body: Data("\(count)".utf8))
        }
        return (HTTPClient(baseURL: home, transport: transport) { $0.cache = cache }, transport)
    }

    private func texts(_ requests: [Get<String>], on client: HTTPClient) async throws -> [String] {
        var texts: [String] = []
        for request in requests { texts.append(try await client.fetch(request)) }
        return texts
    }

    @Test func requestWithoutCachingBypassesCache() async throws {
        let (client, transport) = client()
        let plain = Get<String>("a")

        #expect(
            try await texts([plain.caching(.none), plain, plain, plain.caching(.none), plain], on: client) == [
                "1", "2", "2", "3", "2",
            ]
        )
        #expect(transport.requests.count == 3)
    }

    @Test func putWithoutCachingInvalidatesStoredResponse() async throws {
        let (client, _) = client()
        _ = try await client.fetch(Get<String>("a"))
        _ = try await client.fetch(Put<Void>("a").caching(.none))

        #expect(try await client.fetch(Get<String>("a")) == "3")
    }

    @Test(arguments: ["", "no-cache", "max-age=0", "max-age=60", "private"])
    func requestLifetimeDeterminesFreshness(control: String) async throws {
        let (client, _) = client(control)
        let request = Get<String>("a").caching(.for(.seconds(600)))

        #expect(try await texts([request, request], on: client) == ["1", "1"])
        clock.advance(milliseconds: 599_000)
        #expect(try await client.fetch(request) == "1")
        clock.advance(milliseconds: 2000)
        #expect(try await client.fetch(request) == "2")
    }

    @Test(arguments: ["", "no-cache", "max-age=0", "no-cache, must-revalidate"])
    func requestWithoutLifetimeFollowsServerDirectives(control: String) async throws {
        let (client, _) = client(control)
        let (plain, lasting) = (Get<String>("a"), Get<String>("a").caching(.for(.seconds(600))))

        #expect(try await texts([lasting, plain, lasting, plain], on: client) == ["1", "2", "2", "3"])
        let answered = try await client.send(lasting)
        #expect(answered.headers[.cacheControl] == (control.isEmpty ? nil : control) && answered.body == "3")
    }

    @Test func requestLifetimeIgnoresServerDate() async throws {
        let date = HTTPDate(Date(timeIntervalSince1970: 0)).rawValue
        let transport = InMemoryTransport.answering([.status(.ok, headers: [.date: date], body: Data("1".utf8))])
        let client = HTTPClient(baseURL: home, transport: transport) { $0.cache = cache }
        let request = Get<String>("a").caching(.for(.seconds(600)))

        #expect(try await texts([request, request], on: client) == ["1", "1"])
    }

    @Test func requestLifetimeAllowsStaleIfError() async throws {
        let headers: HTTPHeaders = [.cacheControl: "max-age=0, stale-if-error=3600"]
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: headers, body: Data("1".utf8)), .status(.badGateway),
        ])
        let client = HTTPClient(baseURL: home, transport: transport) { $0.cache = cache }
        let request = Get<String>("a").caching(.for(.seconds(600)))
        #expect(try await client.fetch(request) == "1")

        clock.advance(milliseconds: 601_000)
        #expect(try await client.fetch(request) == "1")
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [
        (URLRequest.CachePolicy.useProtocolCachePolicy, URLRequest.CachePolicy.reloadIgnoringLocalCacheData),
        (.returnCacheDataElseLoad, .reloadIgnoringLocalCacheData),
        (.reloadIgnoringLocalAndRemoteCacheData, .reloadIgnoringLocalAndRemoteCacheData),
        (.returnCacheDataDontLoad, .returnCacheDataDontLoad),
    ])
    func requestWithoutCachingKeepsStricterPolicy(own: URLRequest.CachePolicy, sent: URLRequest.CachePolicy) throws {
        let request = Get<String>("a").cachePolicy(own).caching(.none)

        #expect(try request.toURLRequest(baseURL: home).cachePolicy == sent)
    }

    @Test func requestLifetimeRespectsMustRevalidate() async throws {
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, must-revalidate, stale-while-revalidate=3600"]
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: headers, body: Data("1".utf8)), .status(.ok, headers: headers, body: Data("2".utf8)),
        ])
        let client = HTTPClient(baseURL: home, transport: transport) { $0.cache = cache }
        let request = Get<String>("a").caching(.for(.seconds(600)))

        #expect(try await client.fetch(request) == "1")
        clock.advance(milliseconds: 700_000)
        #expect(try await client.fetch(request) == "2")
    }

    @Test func staleIfErrorRequestRespectsNoCache() async throws {
        let headers: HTTPHeaders = [.cacheControl: "no-cache", .eTag: "\"1\""]
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: headers, body: Data("1".utf8)), .status(.badGateway),
        ])
        let client = HTTPClient(baseURL: home, transport: transport) {
            $0.cache = cache
            $0.headers[.cacheControl] = "stale-if-error=604800"
        }
        let request = Get<String>("a").caching(.for(.seconds(600)))
        #expect(try await texts([request, request], on: client) == ["1", "1"])

        clock.advance(milliseconds: 601_000)
        let error = await #expect(throws: RequestError.self) { try await client.fetch(request) }
        #expect(error?.response?.status == .badGateway)
    }

    @Test func cacheOnlyRequestFailsIfCachingIsDisabled() async {
        let (client, transport) = client("")
        let request = Get<String>("a").caching(.none).cachePolicy(.returnCacheDataDontLoad)

        let error = await #expect(throws: RequestError.self) { try await client.fetch(request) }
        #expect(error?.code == .notCached && transport.requests.isEmpty)
    }

    @Test func lifetimeIsEvaluatedPerRequest() async throws {
        let (client, _) = client("no-cache")
        _ = try await client.fetch(Get<String>("a").caching(.for(.seconds(600))))
        clock.advance(milliseconds: 100_000)

        #expect(try await client.fetch(Get<String>("a").caching(.for(.seconds(600)))) == "1")
        #expect(try await client.fetch(Get<String>("a").caching(.for(.seconds(60)))) == "2")
    }

    /// A request type whose underlying request bypasses the cache.
    private struct UncachedRequest: RequestConvertible {
        typealias Success = String

        var options = RequestOptions()
        var http: HTTPRequest { HTTPRequest(url: home.appending(path: "a")).caching(.none) }
    }

    @Test func standardPolicyOverridesUnderlyingRequest() async throws {
        let (client, transport) = client()
        var request = UncachedRequest()
        #expect(try await [client.fetch(request), client.fetch(request)] == ["1", "2"])

        request.options.caching = .standard

        #expect(try await [client.fetch(request), client.fetch(request)] == ["3", "3"])
        #expect(transport.requests.count == 3)
    }

    @Test func lastCachingPolicyWins() async throws {
        let (client, _) = client("")
        let request = Get<String>("a").caching(.none).caching(.for(.seconds(60)))

        #expect(try await texts([request, request], on: client) == ["1", "1"])
        #expect(try request.toURLRequest(baseURL: home).cachePolicy == .useProtocolCachePolicy)
        let none = request.caching(.none)
        #expect(try none.toURLRequest(baseURL: home).cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(try await TestQueue.sent(none).cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test func responseWithNoStoreIsNotStored() async throws {
        let (client, _) = client("no-store, max-age=60")
        let request = Get<String>("a").caching(.for(.seconds(600)))

        #expect(try await texts([request, request], on: client) == ["1", "2"])
    }

    @Test func requestLifetimeDoesNotApplyToFailures() async throws {
        let (client, transport) = client("", .notFound)
        let request = Get<String>("a").caching(.for(.seconds(600)))
        for _ in 1...2 { _ = try? await client.fetch(request) }

        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [false, true]) func storedResponsesAreListedByURL(isOnDisk: Bool) async throws {
        let folder = TemporaryFolder()
        let cache =
            try isOnDisk ? ResponseCache(directory: folder.url, memoryLimit: 0, now: { [clock] in clock.now }) : cache
        let transport = InMemoryTransport { request in
            .status(
                .ok,
                headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"],
                body: Data((request.headers[.acceptLanguage] ?? "none").utf8)
            )
        }
        let client = HTTPClient(baseURL: home, transport: transport) { $0.cache = cache }
        for language in ["de", "en"] {
            _ = try await client.fetch(Get<String>("a").headers { Header(.acceptLanguage, value: language) })
            clock.advance(milliseconds: 1000)
        }
        clock.advance(milliseconds: 100_000)
        let address = home.appending(path: "a")

        let found = cache.responses(for: address)
        #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == ["en", "de"])
        #expect(found.map { $0.headers[.age] } == ["101", "102"] && found.first?.url == address)
        #expect(cache.responses(for: home).isEmpty)
        cache.remove(for: address)
        #expect(cache.responses(for: address).isEmpty)
    }
}

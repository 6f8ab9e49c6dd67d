// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The requests that are served from the cache, and those that are sent to the server.
@Suite(.bounded) struct CacheRulesTests {
    private let trial = CacheTrial()

    struct Row: Sendable {
        var request: HTTPHeaders = []
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        var response: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        var age: TimeInterval = 30
        let answer: String
    }

    /// RFC 9111, 4 and 5.2.
    static let rows: [Row] = [
        Row(answer: "fresh"),
        Row(age: 59.9, answer: "fresh"),
        Row(age: 60, answer: "revalidate"),
        Row(response: [.cacheControl: "max-age=60"], age: 60, answer: "miss"),
        Row(
            response: [.cacheControl: "max-age=60", .lastModified: "Sun, 06 Nov 1994 08:00:00 GMT"],
            age: 60,
            answer: "revalidate"
        ),
        Row(response: [.cacheControl: "max-age=60", .lastModified: "lately", .eTag: "*"], age: 60, answer: "miss"),
        Row(response: [.cacheControl: "max-age=60, no-cache", .eTag: "\"1\""], answer: "revalidate"),
        Row(response: [.cacheControl: "max-age=60, no-cache=\"set-cookie\"", .eTag: "\"1\""], answer: "revalidate"),
        Row(response: [.cacheControl: "max-age=60, private"], answer: "fresh"),
        Row(response: [.cacheControl: "max-age=60, must-revalidate"], answer: "fresh"),
        Row(response: [.cacheControl: "max-age=60, proxy-revalidate, s-maxage=0"], answer: "fresh"),
        Row(response: [.eTag: "\"1\""], age: 0, answer: "revalidate"),

        Row(request: [.cacheControl: "no-store"], answer: "miss"),
        Row(request: [.cacheControl: "no-cache"], answer: "revalidate"),
        Row(request: [.pragma: "no-cache"], answer: "revalidate"),
        Row(request: [.pragma: "no-cache", .cacheControl: "max-age=60"], answer: "fresh"),
        Row(request: [.cacheControl: "max-age=31"], answer: "fresh"),
        Row(request: [.cacheControl: "max-age=30"], answer: "revalidate"),
        Row(request: [.cacheControl: "max-age=0"], age: 0, answer: "revalidate"),
        Row(request: [.cacheControl: "max-age=x"], age: 0, answer: "revalidate"),
        Row(request: [.cacheControl: "max-age=600"], age: 60, answer: "revalidate"),
        Row(request: [.cacheControl: "min-fresh=30"], answer: "fresh"),
        Row(request: [.cacheControl: "min-fresh=31"], answer: "revalidate"),
        Row(request: [.cacheControl: "max-stale"], age: 1e6, answer: "fresh"),
        Row(request: [.cacheControl: "max-stale=10"], age: 70, answer: "fresh"),
        Row(request: [.cacheControl: "max-stale=10"], age: 71, answer: "revalidate"),
        Row(request: [.cacheControl: "max-stale=x"], age: 71, answer: "revalidate"),
        Row(request: [.cacheControl: "max-stale=10, max-age=20"], age: 30, answer: "fresh"),
        Row(request: [.cacheControl: "max-stale=10, max-age=20"], age: 31, answer: "revalidate"),
        Row(request: [.cacheControl: "max-stale, min-fresh=10"], age: 70, answer: "revalidate"),
        Row(
            request: [.cacheControl: "max-stale"],
            response: [.cacheControl: "max-age=60, must-revalidate"],
            age: 61,
            answer: "miss"
        ),
        Row(request: [.cacheControl: "max-stale"], response: [.cacheControl: "no-cache"], answer: "miss"),
        Row(request: [.cacheControl: "only-if-cached"], answer: "fresh"),
        Row(request: [.cacheControl: "only-if-cached"], age: 61, answer: "unavailable"),
        Row(request: [.cacheControl: "only-if-cached, max-stale"], age: 61, answer: "fresh"),
        Row(request: [.cacheControl: "no-store, only-if-cached"], answer: "unavailable"),

        Row(policy: .reloadIgnoringLocalCacheData, answer: "miss"),
        Row(policy: .reloadIgnoringLocalAndRemoteCacheData, answer: "miss"),
        Row(policy: .returnCacheDataElseLoad, age: 1e9, answer: "fresh"),
        Row(policy: .returnCacheDataElseLoad, response: [.cacheControl: "no-cache"], answer: "fresh"),
        Row(policy: .returnCacheDataDontLoad, age: 1e9, answer: "fresh"),
        Row(policy: .reloadRevalidatingCacheData, answer: "revalidate"),
        Row(policy: .reloadRevalidatingCacheData, response: [.cacheControl: "max-age=60"], answer: "miss"),

        Row(request: [.ifNoneMatch: "\"1\""], answer: "miss"),
        Row(request: [.ifModifiedSince: "Sun, 06 Nov 1994 08:00:00 GMT"], answer: "miss"),
        Row(request: [.ifMatch: "\"1\""], answer: "miss"),
        Row(request: [.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:00:00 GMT"], answer: "miss"),
        Row(request: [.range: "bytes=0-1"], answer: "fresh"),
        Row(request: [.range: "bytes=0-1"], age: 61, answer: "miss"),
        Row(request: [.range: "bytes=0-1", .ifRange: "\"1\""], answer: "miss"),
        Row(request: [.range: "bytes=0-1,3-4"], answer: "miss"),
        Row(request: [.range: "bytes=7-"], answer: "miss"),
        Row(
            request: [.range: "bytes=0-1"],
            response: [.cacheControl: "max-age=60", .contentEncoding: "br"],
            answer: "miss"
        ),
        Row(request: [.range: "bytes=0-1"], policy: .reloadIgnoringLocalCacheData, answer: "miss"),
        Row(request: [.range: "bytes=0-1"], policy: .returnCacheDataDontLoad, answer: "fresh"),
        Row(request: [.range: "bytes=9-"], policy: .returnCacheDataDontLoad, answer: "unavailable"),

        // RFC 8246 and RFC 5861, 3.
        Row(policy: .reloadRevalidatingCacheData, response: [.cacheControl: "max-age=60, immutable"], answer: "fresh"),
        Row(
            policy: .reloadRevalidatingCacheData,
            response: [.cacheControl: "max-age=60, immutable", .eTag: "\"1\""],
            age: 61,
            answer: "revalidate"
        ),
        Row(response: [.cacheControl: "max-age=60, stale-while-revalidate=10"], age: 70, answer: "stale"),
        Row(response: [.cacheControl: "max-age=60, stale-while-revalidate=10"], age: 71, answer: "miss"),
        Row(
            response: [.cacheControl: "max-age=60, stale-while-revalidate=10, must-revalidate"],
            age: 61,
            answer: "miss"
        ),
        Row(
            request: [.cacheControl: "max-age=60"],
            response: [.cacheControl: "max-age=60, stale-while-revalidate=10"],
            age: 61,
            answer: "miss"
        ),
        Row(
            request: [.cacheControl: "no-cache"],
            response: [.cacheControl: "max-age=60, stale-while-revalidate=10"],
            age: 61,
            answer: "miss"
        ),
        Row(response: [.expires: "Sun, 06 Nov 1994 09:49:37 UTC"], answer: "miss"),
    ]

    @Test(arguments: rows) func directivesDetermineReuse(_ row: Row) async {
        await trial.load(row.response)
        trial.advance(by: row.age)

        let exchange = await trial.send(CacheSample.get(row.request, row.policy), isSentLater: row.answer == "stale")

        #expect(exchange.word == row.answer)
        #expect((exchange.text == "new") == ["miss", "revalidate"].contains(row.answer))
    }

    @Test(arguments: [
        (URLRequest.CachePolicy.useProtocolCachePolicy, "miss"), (.reloadIgnoringLocalCacheData, "miss"),
        (.returnCacheDataElseLoad, "miss"), (.returnCacheDataDontLoad, "unavailable"),
        (.reloadRevalidatingCacheData, "miss"),
    ])
    func cachePolicyAppliesWithoutStoredResponse(policy: URLRequest.CachePolicy, answer: String) async {
        #expect(await trial.send(CacheSample.get([], policy)).word == answer)
    }

    private static let others: [HTTPRequest] =
        [HTTPMethod.head, .post, .put, .patch, .delete, .options, .query, .trace, "PURGE", "GETS"].map {
            HTTPRequest(url: CacheSample.url, method: $0)
        } + [HTTPRequest(url: CacheSample.url, body: .data(Data("question".utf8)))]

    @Test(arguments: others) func onlyBodylessGETIsServedFromCache(_ request: HTTPRequest) async {
        await trial.load()

        #expect(await trial.send(request).word == "miss")
    }

    @Test(arguments: others) func onlyResponseToBodylessGETIsStored(_ request: HTTPRequest) async {
        await trial.load(for: request)

        #expect(!trial.isStored() && trial.cache.memorySize == 0)
    }

    @Test func cachedResponseHasAgeField() async {
        await trial.load([.cacheControl: "max-age=60", .age: "7"])
        trial.advance(by: 5.9)

        let exchange = await trial.send()

        #expect(exchange.sent == nil && exchange.text == "content")
        #expect(exchange.response?.headers[values: .age] == ["12"])
        #expect(exchange.response?.status == .ok && exchange.response?.url == CacheSample.url)
        #expect(exchange.response?.transfers.isEmpty == true)
    }

    @Test(arguments: ["\"1\"", "W/\"1\"", "unquoted"])
    func revalidationSendsValidatorsVerbatim(tag: String) async {
        await trial.load([.eTag: tag, .lastModified: "Sunday, 06-Nov-94 08:49:37 GMT"])
        trial.advance(by: 60)

        let exchange = await trial.send(CacheSample.get([.accept: "*/*"]))

        #expect(
            exchange.sent?.headers
                == [.accept: "*/*", .ifNoneMatch: tag, .ifModifiedSince: "Sunday, 06-Nov-94 08:49:37 GMT"]
        )
    }

    @Test(arguments: ["\"a\r\nX: y\"", "\"a\u{0}\"", "\"a b\"", "*", ""])
    func invalidEntityTagIsNotSent(tag: String) async {
        await trial.load([.eTag: tag])

        #expect(await trial.send().sent?.headers == [])
    }

    @Test(
        arguments: [
            (.useProtocolCachePolicy, [], nil),
            (.reloadIgnoringLocalCacheData, [], nil),
            (.reloadIgnoringLocalAndRemoteCacheData, [], "no-cache"),
            (.reloadIgnoringLocalAndRemoteCacheData, [.cacheControl: "no-transform"], "no-transform, no-cache"),
            (.reloadIgnoringLocalAndRemoteCacheData, [.cacheControl: "No-Cache"], "No-Cache"),
            (.reloadRevalidatingCacheData, [], "max-age=0"),
            (.reloadRevalidatingCacheData, [.cacheControl: "max-age=5"], "max-age=5"),
        ] as [(URLRequest.CachePolicy, HTTPHeaders, String?)]
    )
    func cachePolicyIsSentToIntermediateCaches(
        policy: URLRequest.CachePolicy,
        headers: HTTPHeaders,
        control: String?
    ) async throws {
        let sent = try #require(await trial.send(CacheSample.get(headers, policy)).sent)

        #expect(sent.headers[.cacheControl] == control)
    }

    @Test func conditionalRequestBypassesTransportCache() async {
        let exchange = await trial.send(CacheSample.get([.ifNoneMatch: "\"1\""]))

        #expect(exchange.sent?.cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test(
        arguments: [
            ("https://a.example/logo.png", [], "fresh"),
            ("https://a.example/logo?size=2", [], "revalidate"),
            ("https://a.example/logo.png", [.authorization: "Bearer a"], "revalidate"),
            ("https://a.example/logo.png", [.cookie: "a=1"], "revalidate"),
        ] as [(String, HTTPHeaders, String)]
    )
    func heuristicLifetimeNeedsNoQueryOrCredentials(url: String, headers: HTTPHeaders, answer: String) async throws {
        let request = CacheSample.get(try #require(URL(string: url)), headers)
        await trial.load([.lastModified: "Sun, 06 Nov 1994 07:49:37 GMT"], for: request)
        trial.advance(by: 60)

        #expect(await trial.send(request).word == answer)
    }

    struct StandIn: Sendable {
        var request: HTTPHeaders = []
        let response: HTTPHeaders
        let age: TimeInterval
        let stands: Bool
    }

    /// RFC 5861, 4.
    static let standIns: [StandIn] = [
        StandIn(response: [.cacheControl: "max-age=60"], age: 61, stands: false),
        StandIn(response: [.cacheControl: "max-age=60, stale-if-error=10"], age: 70, stands: true),
        StandIn(response: [.cacheControl: "max-age=60, stale-if-error=10"], age: 71, stands: false),
        StandIn(response: [.cacheControl: "max-age=60, stale-if-error=10, must-revalidate"], age: 61, stands: false),
        StandIn(response: [.cacheControl: "no-cache, stale-if-error=10"], age: 1, stands: false),
        StandIn(
            request: [.cacheControl: "stale-if-error=10"],
            response: [.cacheControl: "max-age=60"],
            age: 70,
            stands: true
        ),
    ]

    /// Failures of the server, and of the connection to it.
    static let failures: [StubResponse] = [
        .status(.internalServerError), .status(.badGateway), .status(.serviceUnavailable), .status(.gatewayTimeout),
        .failure(.networkConnectionLost),
    ]

    @Test(arguments: standIns, failures)
    func staleResponseReplacesErrorIfAllowed(_ row: StandIn, failure: StubResponse) async {
        await trial.load(row.response)
        trial.advance(by: row.age)

        let exchange = await trial.send(CacheSample.get(row.request), failure)

        #expect(exchange.sent != nil)
        #expect((exchange.response?.status == .ok && exchange.text == "content") == row.stands)
    }
}

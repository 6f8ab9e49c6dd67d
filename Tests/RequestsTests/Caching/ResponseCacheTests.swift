// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The behavior of a cache in memory and on disk.
@Suite(.bounded) struct ResponseCacheTests {
    enum Place: CaseIterable {
        case memory
        case disk
        case both
    }

    private let clock = ManualDate()
    private let directory = TemporaryFolder()

    private func cache(
        _ place: Place,
        keeping filter: @escaping ResponseCache.Filter = { response, _ in response }
    ) throws -> ResponseCache {
        switch place {
        case .memory: ResponseCache(now: { [clock] in clock.now }, keeping: filter)
        case .disk:
            try ResponseCache(directory: directory.url, memoryLimit: 0, now: { [clock] in clock.now }, keeping: filter)
        case .both: try ResponseCache(directory: directory.url, now: { [clock] in clock.now }, keeping: filter)
        }
    }

    @Test(arguments: Place.allCases) func freshResponseIsReused(place: Place) throws {
        let cache = try cache(place)
        #expect(cache.answer(to: CacheSample.get()).word == "miss")
        cache.store(
            CacheSample.response([.cacheControl: "max-age=60", .contentType: "text/plain"]),
            for: CacheSample.get()
        )

        clock.advance(by: 59)

        guard case .fresh(let response) = cache.answer(to: CacheSample.get()) else {
            throw CacheTestError.unexpected(cache.answer(to: CacheSample.get()).word)
        }
        #expect(response.body == Data("content".utf8))
        #expect(response.headers == [.cacheControl: "max-age=60", .contentType: "text/plain", .age: "59"])
        clock.advance(by: 1)
        #expect(cache.answer(to: CacheSample.get()).word == "miss")
    }

    static let users: [HTTPHeaders] = [
        [], [.authorization: "Bearer a"], [.authorization: "Bearer b"], [.cookie: "session=a"], [.cookie: "session=b"],
        [.apiKey: "a"], [HTTPField(HTTPField.Name("X-Session", isSensitive: true), "a")],
        [HTTPField(HTTPField.Name("X-Session", isSensitive: true), "b")], ["X-User-Token": "a"], ["X-User-Token": "b"],
    ]

    @Test(arguments: Place.allCases) func responsesAreNotSharedBetweenUsers(place: Place) throws {
        let cache = try cache(place)
        let policies: [URLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        ]
        for (index, user) in Self.users.enumerated() {
            for other in Self.users[index...] {
                for policy in policies { #expect(cache.content(for: CacheSample.get(other, policy)) == nil) }
            }
            // Even if the server allows sharing it.
            let headers: HTTPHeaders = [.cacheControl: "public, max-age=60, s-maxage=60"]
            cache.store(CacheSample.response(headers, body: "\(index)"), for: CacheSample.get(user))
        }
        for (index, user) in Self.users.enumerated() {
            #expect(cache.content(for: CacheSample.get(user)) == "\(index)")
        }
    }

    @Test(arguments: Place.allCases) func entityTagIsNotSentByAnotherUser(place: Place) throws {
        let cache = try cache(place)
        cache.store(CacheSample.response([.eTag: "\"a\""]), for: CacheSample.get([.authorization: "Bearer a"]))

        let answer = cache.answer(to: CacheSample.get([.authorization: "Bearer b"]))

        #expect(answer.word == "miss")
        #expect(answer.request?.headers == [.authorization: "Bearer b"])
    }

    @Test(arguments: Place.allCases) func variantsAreStoredSeparately(place: Place) throws {
        let cache = try cache(place)
        let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept-Language, Accept"]
        for language in ["en", "de"] {
            let request = CacheSample.get([.acceptLanguage: language, .userAgent: language])
            cache.store(CacheSample.response(headers, body: language), for: request)
        }

        #expect(cache.content(for: CacheSample.get([.acceptLanguage: "en"])) == "en")
        #expect(cache.content(for: CacheSample.get([.acceptLanguage: "de"])) == "de")
        #expect(cache.content(for: CacheSample.get([.acceptLanguage: "fr"])) == nil)
        #expect(cache.content(for: CacheSample.get([.acceptLanguage: "en", .accept: "*/*"])) == nil)
        #expect(cache.content(for: CacheSample.get()) == nil)
    }

    @Test(arguments: Place.allCases) func latestResponseDeterminesVary(place: Place) throws {
        let cache = try cache(place)
        let english = CacheSample.get([.acceptLanguage: "en"])
        cache.store(CacheSample.response([.cacheControl: "max-age=60", .vary: "Accept-Language"]), for: english)

        cache.store(CacheSample.response(body: "for all"), for: CacheSample.get([.acceptLanguage: "de"]))

        #expect(cache.content(for: english) == "for all")
    }

    @Test(arguments: Place.allCases) func revalidatedResponseIsFreshAgain(place: Place) throws {
        let cache = try cache(place)
        let request = CacheSample.get([.authorization: "Bearer a"])
        let headers: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\"", .age: "50", "X-Count": "1"]
        cache.store(CacheSample.response(headers), for: request)
        clock.advance(by: 100)
        guard case .revalidate(let sent, let stored) = cache.answer(to: request) else {
            throw CacheTestError.unexpected(cache.answer(to: request).word)
        }
        #expect(sent.headers == [.authorization: "Bearer a", .ifNoneMatch: "\"1\""])

        let head = HTTPResponseHead(status: 304, headers: [.setCookie: "a=1", "X-Count": "2", .eTag: "\"1\""])
        let response = cache.refresh(stored, with: head, for: request, requestedAt: clock.now)

        #expect(response.status == .ok)
        #expect(response.body == Data("content".utf8))
        let expected: HTTPHeaders = [
            .cacheControl: "max-age=60", .eTag: "\"1\"", "X-Count": "2", .setCookie: "a=1",
        ]
        #expect(response.headers.hasSameFields(as: expected))
        clock.advance(by: 59)
        guard case .fresh(let again) = cache.answer(to: request) else {
            throw CacheTestError.unexpected(cache.answer(to: request).word)
        }
        #expect(again.headers["X-Count"] == "2")
        #expect(again.headers[.age] == "59")
        #expect(!again.headers.contains(.setCookie))
    }

    @Test(arguments: Place.allCases) func revalidationWithNoStoreRemovesResponse(place: Place) throws {
        let cache = try cache(place)
        cache.store(CacheSample.response([.eTag: "\"1\""]), for: CacheSample.get())
        guard case .revalidate(_, let stored) = cache.answer(to: CacheSample.get()) else {
            throw CacheTestError.unexpected("no validation")
        }

        let head = HTTPResponseHead(status: .notModified, headers: [.cacheControl: "no-store"])
        let response = cache.refresh(stored, with: head, for: CacheSample.get(), requestedAt: clock.now)

        #expect(response.body == Data("content".utf8))
        #expect(cache.content(for: CacheSample.get([], .returnCacheDataElseLoad)) == nil)
    }

    @Test(arguments: Place.allCases) func requestTimeCountsTowardsAge(place: Place) throws {
        let cache = try cache(place)
        let start = clock.now
        clock.advance(by: 20)
        cache.store(CacheSample.response(), for: CacheSample.get(), requestedAt: start)

        clock.advance(by: 39)
        #expect(cache.content(for: CacheSample.get()) != nil)
        clock.advance(by: 1)
        #expect(cache.content(for: CacheSample.get()) == nil)
    }

    @Test(arguments: Place.allCases) func conditionalRequestBypassesCache(place: Place) throws {
        let cache = try cache(place)
        cache.store(CacheSample.response([.cacheControl: "max-age=60", .eTag: "\"1\""]), for: CacheSample.get())
        let request = CacheSample.get([.ifNoneMatch: "\"1\""])

        let answer = cache.answer(to: request)
        cache.store(CacheSample.response(body: "other"), for: request)

        #expect(answer.word == "miss")
        #expect(answer.request?.headers == [.ifNoneMatch: "\"1\""])
        #expect(cache.content(for: CacheSample.get()) == "content")
    }

    @Test(arguments: Place.allCases) func uncacheableResponseReplacesStoredOne(place: Place) throws {
        let cache = try cache(place)
        let request = CacheSample.get([], .reloadIgnoringLocalCacheData)
        for (status, isKept) in [(HTTPStatus.internalServerError, true), (.partialContent, true), (.ok, false)] {
            cache.store(CacheSample.response(), for: CacheSample.get())

            cache.store(CacheSample.response([.cacheControl: "no-store"], status: status), for: request)

            #expect((cache.content(for: CacheSample.get()) != nil) == isKept)
        }
    }

    @Test(arguments: Place.allCases) func responseFromAnotherURLIsNotStored(place: Place) throws {
        let cache = try cache(place)

        cache.store(
            CacheSample.response(from: URL(string: "https://elsewhere.example/")!),
            for: CacheSample.get()
        )

        #expect(cache.answer(to: CacheSample.get()).word == "miss")
    }

    @Test(arguments: Place.allCases) func unsafeRequestInvalidatesForAllUsers(place: Place) throws {
        let cache = try cache(place)
        let other = URL(string: "https://api.example.com/todos/2")!
        let vary: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept"]
        cache.store(CacheSample.response(), for: CacheSample.get([.authorization: "Bearer a"]))
        cache.store(CacheSample.response(vary), for: CacheSample.get([.authorization: "Bearer b"]))
        cache.store(CacheSample.response(from: other), for: CacheSample.get(other))
        let change = HTTPRequest(url: CacheSample.url, method: .patch, headers: [.authorization: "Bearer c"])

        cache.invalidate(after: change, response: HTTPResponseHead(status: .conflict))
        #expect(cache.content(for: CacheSample.get([.authorization: "Bearer a"])) != nil)
        cache.invalidate(after: change, response: HTTPResponseHead(status: .ok))

        #expect(cache.content(for: CacheSample.get([.authorization: "Bearer a"])) == nil)
        #expect(cache.content(for: CacheSample.get([.authorization: "Bearer b"])) == nil)
        #expect(cache.content(for: CacheSample.get(other)) != nil)
    }

    @Test(arguments: Place.allCases) func removeDeletesResponsesOfURL(place: Place) throws {
        let cache = try cache(place)
        let other = URL(string: "https://api.example.com/todos/2")!
        cache.store(CacheSample.response(), for: CacheSample.get([.authorization: "Bearer a"]))
        cache.store(CacheSample.response(from: other), for: CacheSample.get(other))

        cache.remove(for: CacheSample.url)
        #expect(cache.content(for: CacheSample.get([.authorization: "Bearer a"])) == nil)
        #expect(cache.content(for: CacheSample.get(other)) != nil)
        cache.removeAll()

        #expect(cache.content(for: CacheSample.get(other)) == nil)
        #expect(cache.memorySize == 0)
        #expect(cache.diskSize == 0)
    }

    @Test(arguments: Place.allCases) func inFlightResponseIsNotStoredAfterRemoval(place: Place) throws {
        let cache = try cache(place)
        let removals: [@Sendable (ResponseCache) -> Void] = [
            { $0.removeAll() }, { $0.remove(for: CacheSample.url) },
            {
                let change = HTTPRequest(url: CacheSample.url, method: .delete)
                $0.invalidate(after: change, response: HTTPResponseHead(status: .noContent))
            },
        ]
        for remove in removals {
            let use = CacheTransaction(of: cache, by: CacheSample.get(), .standard)
            remove(cache)
            use.store(CacheSample.response(), requestedAt: clock.now)
            #expect(cache.content(for: CacheSample.get()) == nil)
            #expect(cache.diskSize == 0)

            cache.store(CacheSample.response(), for: CacheSample.get())
            #expect(cache.content(for: CacheSample.get()) == "content")
        }
    }

    @Test(arguments: Place.allCases) func callerDecidesWhatIsStored(place: Place) throws {
        let cache = try cache(place) { response, request in
            guard request.url.path != "/secret" else { return nil }
            var headers = response.headers
            headers[.cacheControl] = "max-age=60"
            let head = HTTPResponseHead(status: response.status, headers: headers, url: response.url)
            return HTTPResponse(head: head, body: response.body + Data("!".utf8))
        }
        let secret = URL(string: "https://api.example.com/secret")!

        cache.store(CacheSample.response([]), for: CacheSample.get())
        cache.store(CacheSample.response(from: secret), for: CacheSample.get(secret))

        #expect(cache.content(for: CacheSample.get()) == "content!")
        #expect(cache.content(for: CacheSample.get(secret)) == nil)
    }

    @Test(arguments: Place.allCases) func failedRevalidationCanUseStaleResponse(place: Place) throws {
        let cache = try cache(place)
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-if-error=600", .eTag: "\"1\""]
        cache.store(CacheSample.response(headers), for: CacheSample.get())
        clock.advance(by: 100)
        guard case .revalidate(_, let stored) = cache.answer(to: CacheSample.get()) else {
            throw CacheTestError.unexpected("no validation")
        }

        #expect(cache.answer(insteadOfError: stored, for: CacheSample.get())?.headers[.age] == "100")
        clock.advance(by: 600)
        #expect(cache.answer(insteadOfError: stored, for: CacheSample.get()) == nil)
    }

    @Test func memoryLimitIsEnforced() {
        let cache = ResponseCache(memoryLimit: 64 * 1024)
        let body = String(repeating: "x", count: 3000)
        let count = Scale.pick(200, whole: 1000)
        for index in 0..<count {
            let url = URL(string: "https://example.com/\(index)")!
            cache.store(CacheSample.response(body: body, from: url), for: CacheSample.get(url))
            #expect(cache.memorySize <= 64 * 1024)
        }
        #expect(cache.memorySize > 32 * 1024)
        #expect(cache.content(for: CacheSample.get(URL(string: "https://example.com/\(count - 1)")!)) == body)
        cache.store(CacheSample.response(body: String(repeating: "x", count: 17 * 1024)), for: CacheSample.get())
        #expect(cache.content(for: CacheSample.get()) == nil)
    }
}

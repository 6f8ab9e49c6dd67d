// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The responses that a cache stores, and those that a change removes.
@Suite(.bounded) struct CacheRulesStoringTests {
    private let trial = CacheTrial()

    /// RFC 9111, 3; RFC 9110, 15.1; RFC 6585.
    @Test func statusDeterminesStorability() async {
        let always: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414]
        let never: Set = [206, 304, 401, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511]
        let lifetimes: [HTTPHeaders] = [[], [.cacheControl: "max-age=60"], [.expires: "0"]]
        // The registered statuses, and some unregistered ones.
        for code in 200..<600 where Scale.isWhole || code % 100 <= 32 || code % 100 >= 98 {
            for lifetime in lifetimes {
                await trial.load(lifetime, status: HTTPStatus(code))

                let isStored = lifetime.isEmpty ? always.contains(code) : !never.contains(code)
                #expect(trial.isStored() == isStored, "\(code) \(lifetime)")
                trial.cache.removeAll()
                trial.advance(by: 1)
            }
        }
    }

    @Test(
        arguments: [
            ([], [.cacheControl: "no-store"], false),
            ([], [.cacheControl: "No-Store, max-age=60"], false),
            ([], [.cacheControl: "no-store, must-understand"], true),
            ([], [.cacheControl: "max-age=60, must-understand"], true),
            ([], [.cacheControl: "private"], true),
            // A semicolon is invalid, so the stricter reading applies (RFC 9111, 4.2.1).
            ([], [.cacheControl: "private; no-store"], false),
            ([], [.cacheControl: "max-age=60; private"], true),
            ([], [.cacheControl: "private=\"set-cookie\""], true),
            ([], [.cacheControl: "no-cache"], true),
            ([], [.vary: "Accept"], true),
            ([], [.vary: "*"], false),
            ([], [.vary: "Accept, *"], false),
            ([], [HTTPField(.vary, "Accept"), HTTPField(.vary, "*")], false),
            ([.authorization: "Bearer a"], [:], true),
            ([.cacheControl: "no-store"], [.cacheControl: "max-age=60"], false),
            ([.cacheControl: "no-cache"], [.cacheControl: "max-age=60"], true),
            ([.ifNoneMatch: "\"1\""], [.cacheControl: "max-age=60"], false),
            ([.ifModifiedSince: "x"], [.cacheControl: "max-age=60"], false),
            ([.ifRange: "\"1\""], [.cacheControl: "max-age=60"], false),
            ([.range: "bytes=0-"], [.cacheControl: "max-age=60"], false),
        ] as [(HTTPHeaders, HTTPHeaders, Bool)]
    )
    func requestOrResponseCanForbidStoring(request: HTTPHeaders, response: HTTPHeaders, isStored: Bool) async {
        await trial.load(response, for: CacheSample.get(request))

        #expect(trial.isStored() == isStored)
    }

    @Test func mustUnderstandPreventsStoringUnknownStatus() async {
        await trial.load([.cacheControl: "max-age=60, must-understand"], status: 299)

        #expect(!trial.isStored())
    }

    @Test(
        arguments: [
            (HTTPMethod.post, 200, true), (.put, 204, true), (.delete, 200, true), (.patch, 200, true),
            ("PURGE", 200, true), (.post, 303, true), (.post, 400, false), (.post, 500, false), (.put, 100, false),
            (.get, 200, false), (.head, 200, false), (.options, 200, false), (.query, 200, false),
        ] as [(HTTPMethod, HTTPStatus, Bool)],
        [false, true]
    )
    func unsafeMethodsInvalidateStoredResponse(
        _ row: (method: HTTPMethod, status: HTTPStatus, invalidates: Bool),
        isStreamed: Bool
    ) async throws {
        await trial.load()

        // Bypasses the cache, so that a GET stores nothing new.
        let change = HTTPRequest(url: CacheSample.url, method: row.method).caching(.none)
        if isStreamed {
            try await trial.stream(change, .status(row.status))
        } else {
            #expect(await trial.send(change, .status(row.status)).sent?.method == row.method)
        }

        #expect(trial.isStored() == !row.invalidates)
    }

    @Test(
        arguments: [
            ("/todos/2", "https://api.example.com/todos/2"), ("2", "https://api.example.com/todos/2"),
            ("https://api.example.com:443/todos/2", "https://api.example.com:443/todos/2"),
            ("https://www.example.com/todos/2", nil), ("http://api.example.com/todos/2", nil), ("//evil.example/", nil),
            ("https://api.example.com:8443/", nil),
        ] as [(String, String?)],
        [HTTPField.Name.location, .contentLocation]
    )
    func locationInvalidatesOnlySameOriginURLs(
        _ row: (location: String, other: String?),
        name: HTTPField.Name
    ) async throws {
        let named = try #require(URL(string: row.location, relativeTo: CacheSample.url)?.absoluteURL)
        for url in [CacheSample.url, named] { await trial.load(for: CacheSample.get(url)) }
        #expect(trial.isStored() && trial.isStored(for: named))

        let change = HTTPRequest(url: CacheSample.url, method: .post)
        await trial.send(change, .status(.created, headers: HTTPHeaders([HTTPField(name, row.location)])))

        #expect(!trial.isStored() && trial.isStored(for: named) == (row.other == nil))
        if let other = row.other { #expect(named.absoluteString == other) }
    }
}

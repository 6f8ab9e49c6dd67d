// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Stored responses after their validation, their replacement and their removal.
@Suite(.bounded) struct CacheValidationTests {
    private let trial = CacheTrial()

    @Test func revalidationUpdatesOnlyNonContentFields() async {
        await trial.load([
            .contentType: "text/plain", .contentEncoding: "gzip", .eTag: "\"1\"",
            .cacheControl: "max-age=60", .age: "7", .date: "Sun, 06 Nov 1994 08:00:00 GMT", "X-Old": "1",
            .warning: "110 - stale",
        ])
        let fields: HTTPHeaders = [
            .contentType: "text/html", .contentLength: "0", .contentEncoding: "br", .contentRange: "bytes 0-1/2",
            .eTag: "W/\"1\"", .cacheControl: "max-age=5", .setCookie: "a=1", .connection: "X-Hop", "X-Hop": "1",
            "X-New": "1",
        ]

        let validated = await trial.send(CacheSample.get(), .status(.notModified, headers: fields))
        let again = await trial.send()

        var expected: HTTPHeaders = [
            .contentType: "text/plain", .contentLength: "7", .contentEncoding: "gzip", "X-Old": "1",
            .eTag: "W/\"1\"", .cacheControl: "max-age=5", .setCookie: "a=1", "X-New": "1",
        ]
        #expect(validated.word == "revalidate" && validated.text == "content" && validated.response?.status == .ok)
        #expect(validated.response?.headers.hasSameFields(as: expected) == true)
        expected.remove(.setCookie)
        expected[.age] = "0"
        #expect(again.word == "fresh" && again.text == "content")
        #expect(again.response?.headers.hasSameFields(as: expected) == true)
    }

    @Test(
        arguments: [
            ("\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true), ("W/\"1\"", "W/\"1\"", true), ("\"1\"", nil, true),
            (nil, "\"1\"", true), ("\"1\"", "\"2\"", false), ("W/\"1\"", "\"2\"", false),
        ] as [(String?, String?, Bool)]
    )
    func notModifiedAppliesToMatchingEntityTag(ours: String?, theirs: String?, isMeant: Bool) async throws {
        var stored: HTTPHeaders = [.lastModified: "Sun, 06 Nov 1994 08:00:00 GMT", .cacheControl: "no-cache"]
        var fields: HTTPHeaders = [.cacheControl: "max-age=60"]
        (stored[.eTag], fields[.eTag]) = (ours, theirs)
        let transport = InMemoryTransport { [stored, fields] request in
            guard request.headers.contains(.ifModifiedSince) else {
                return .status(.ok, headers: stored, body: Data("content".utf8))
            }
            return .status(.notModified, headers: fields)
        }
        let client = HTTPClient(transport: transport) { $0.cache = ResponseCache() }

        for _ in 1...2 {
            let response = try await client.send(CacheSample.get())
            #expect(response.status == .ok && response.body == Data("content".utf8))
        }

        // If the tag differs from the stored one, the response is requested again without conditions.
        let areConditional = transport.requests.map { $0.headers.contains(.ifModifiedSince) }
        #expect(areConditional == (isMeant ? [false, true] : [false, true, false]))
    }

    @Test func mismatchedEntityTagReplacesStoredResponse() async throws {
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: [.eTag: "\"1\""], body: Data("old".utf8)),
            .status(.notModified, headers: [.eTag: "\"2\""]),
            .status(.ok, headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: Data("new".utf8)),
        ])
        let client = HTTPClient(transport: transport) { $0.cache = ResponseCache() }

        for text in ["old", "new", "new"] {
            #expect(try await client.send(CacheSample.get()).body == Data(text.utf8))
        }

        #expect(transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test func secretsAndHopByHopFieldsAreNotStored() async {
        await trial.load([
            .contentType: "text/plain", .setCookie: "a=1", .connection: "close, X-Hop", "x-hop": "1",
            .keepAlive: "timeout=5", .proxyAuthenticate: "Basic", .upgrade: "h2c", "X-Auth-Token": "hunter2",
            "X-CSRF-Token": "hunter2", .eTag: "\"1\"", .proxyAuthenticationInfo: "x", .trailer: "x", .te: "x",
            "Proxy-Connection": "close", "X-Continuation-Token": "page 2",
        ])

        let expected: HTTPHeaders = [
            .contentType: "text/plain", .eTag: "\"1\"", "X-Continuation-Token": "page 2", .contentLength: "7",
            .age: "0",
        ]
        #expect(trial.cache.responses(for: CacheSample.url).first?.headers.hasSameFields(as: expected) == true)
    }

    @Test(arguments: [
        (HTTPStatus.internalServerError, true), (.partialContent, true), (.notFound, true), (.ok, false),
    ])
    func newUnstorableResponseRemovesStoredOne(status: HTTPStatus, isKept: Bool) async {
        await trial.load()

        let reload = CacheSample.get([], .reloadIgnoringLocalCacheData)
        await trial.send(reload, .status(status, headers: [.cacheControl: "no-store"]))

        #expect(trial.isStored() == isKept)
    }

    // MARK: Removals

    static let removals: [(@Sendable (ResponseCache) -> Void, Bool)] = [
        ({ $0.removeAll() }, false),
        ({ $0.remove(for: CacheSample.url) }, false),
        ({ $0.remove(for: CacheSample.url.appending(path: "another")) }, true),
    ]

    @Test(arguments: removals.indices)
    func responseRequestedBeforeRemovalIsNotStored(index: Int) async {
        let (remove, isKept) = Self.removals[index]

        await trial.load { [cache = trial.cache] in remove(cache) }
        #expect(trial.isStored() == isKept)
        await trial.load(for: CacheSample.get([], .reloadIgnoringLocalCacheData), delay: 1)
        #expect(trial.isStored())
    }

    @Test func clockSetBackAfterRemovalDoesNotBlockStoring() async {
        trial.cache.removeAll()
        trial.advance(by: -3599)

        await trial.load(delay: 1)

        #expect(trial.isStored())
    }

    @Test func evictedRemovalRecordStillPreventsStoring() async {
        await trial.load { [cache = trial.cache] in
            for index in 0...1000 { cache.remove(for: CacheSample.url.appending(path: "\(index)")) }
        }
        #expect(!trial.isStored())
        await trial.load(delay: 1)
        #expect(trial.isStored())
    }
}

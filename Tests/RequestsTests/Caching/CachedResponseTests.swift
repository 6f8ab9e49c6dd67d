// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CachedResponseTests {
    @Test func secretAndHopByHopFieldsAreNotStored() {
        let headers: HTTPHeaders = [
            .contentType: "text/plain", .setCookie: "a=1", .connection: "close, X-Hop", "x-hop": "1",
            .transferEncoding: "chunked", .keepAlive: "timeout=5", .proxyAuthenticate: "Basic", .upgrade: "h2c",
            "X-Auth-Token": "hunter2", "X-CSRF-Token": "hunter2", .eTag: "\"1\"",
            .proxyAuthenticationInfo: "x", .trailer: "x", .te: "x", "Proxy-Connection": "close",
        ]

        let response = CacheSample.cached(headers)

        #expect(response.headers == [.contentType: "text/plain", .eTag: "\"1\""])
    }

    @Test func continuationTokenFieldIsStored() {
        let response = CacheSample.cached(["X-Continuation-Token": "page 2"])

        #expect(response.headers == ["X-Continuation-Token": "page 2"])
    }

    @Test func revalidationUpdatesNonContentFields() {
        let stored = CacheSample.cached([
            .contentType: "text/plain", .contentLength: "7", .contentEncoding: "gzip", .eTag: "\"1\"",
            .cacheControl: "max-age=60", .age: "7", .date: "Sun, 06 Nov 1994 08:00:00 GMT", "X-Old": "1",
            .warning: "110 - stale",
        ])

        let fields: HTTPHeaders = [
            .contentType: "text/html", .contentLength: "0", .contentEncoding: "br", .contentRange: "bytes 0-1/2",
            .eTag: "W/\"1\"", .cacheControl: "max-age=5", .setCookie: "a=1", .connection: "X-Hop", "X-Hop": "1",
            "X-New": "1",
        ]

        #expect(
            stored.validated(by: fields, for: CacheSample.url).headers.hasSameFields(as: [
                .contentType: "text/plain", .contentLength: "7", .contentEncoding: "gzip", "X-Old": "1",
                .eTag: "W/\"1\"", .cacheControl: "max-age=5", .setCookie: "a=1", "X-New": "1",
            ])
        )
    }

    @Test(
        arguments: [
            ("\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true), ("W/\"1\"", "W/\"1\"", true), ("\"1\"", nil, true),
            (nil, "\"1\"", true), ("\"1\"", "\"2\"", false), ("W/\"1\"", "\"2\"", false),
        ] as [(String?, String?, Bool)]
    )
    func revalidationRequiresMatchingEntityTag(ours: String?, theirs: String?, isMeant: Bool) {
        var (stored, head): (HTTPHeaders, HTTPHeaders) = ([], [])
        stored[.eTag] = ours
        head[.eTag] = theirs

        let response = CacheSample.cached(stored)

        #expect(response.isConfirmed(by: HTTPResponseHead(status: .notModified, headers: head)) == isMeant)
    }

    @Test(
        arguments: [
            ("", []), ("Accept", ["accept"]), ("Accept-Language, ACCEPT,accept", ["accept", "accept-language"]),
            ("*", nil), ("Accept, *", nil),
        ] as [(String, [HTTPField.Name]?)]
    )
    func parsesVaryHeader(value: String, names: [HTTPField.Name]?) {
        #expect(CacheSample.cached([.vary: value]).varyingNames == names)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CacheRulesStoringTests {
    /// RFC 9111, 3; RFC 9110, 15.1; RFC 6585.
    @Test func theStatusSaysWhetherAResponseIsStored() {
        let always: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414]
        let never: Set = [206, 304, 401, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511]
        let rules = CacheRules(CacheSample.get())
        for code in 100..<600 {
            let status = HTTPStatus(code)
            let isStored = code >= 200 && !never.contains(code)

            #expect(rules.allowsStoring(CacheSample.cached([], status: status)) == always.contains(code), "\(code)")
            for headers: HTTPHeaders in [[.cacheControl: "max-age=60"], [.expires: "0"]] {
                #expect(rules.allowsStoring(CacheSample.cached(headers, status: status)) == isStored, "\(code)")
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
    func bothSidesMayForbidStoring(request: HTTPHeaders, response: HTTPHeaders, isStored: Bool) {
        #expect(CacheRules(CacheSample.get(request)).allowsStoring(CacheSample.cached(response)) == isStored)
    }

    @Test func unknownStatusThatMustBeUnderstoodIsNotStored() {
        let response = CacheSample.cached([.cacheControl: "max-age=60, must-understand"], status: HTTPStatus(299))

        #expect(!CacheRules(CacheSample.get()).allowsStoring(response))
    }

    @Test(arguments: [
        (HTTPMethod.post, 200, true), (.put, 204, true), (.delete, 200, true), (.patch, 200, true),
        ("PURGE", 200, true), (.post, 303, true), (.post, 400, false), (.post, 500, false), (.put, 100, false),
        (.get, 200, false), (.head, 200, false), (.options, 200, false), (.query, 200, false),
    ])
    func unsafeMethodsInvalidate(method: HTTPMethod, code: Int, invalidates: Bool) {
        let rules = CacheRules(HTTPRequest(url: CacheSample.url, method: method))

        let urls = rules.invalidated(by: HTTPResponseHead(status: HTTPStatus(code)))

        #expect(urls == (invalidates ? [CacheSample.url] : []))
    }

    @Test(
        arguments: [
            ("/todos/2", "https://api.example.com/todos/2"), ("2", "https://api.example.com/todos/2"),
            ("https://api.example.com:443/todos/2", "https://api.example.com:443/todos/2"),
            ("https://www.example.com/todos/2", nil), ("http://api.example.com/todos/2", nil), ("//evil.example/", nil),
            ("https://api.example.com:8443/", nil),
        ] as [(String, String?)]
    )
    func theResponseInvalidatesOtherAddressesOfItsOwnOrigin(location: String, other: String?) {
        let rules = CacheRules(HTTPRequest(url: CacheSample.url, method: .post))
        for name in [HTTPField.Name.location, .contentLocation] {
            let head = HTTPResponseHead(status: .created, headers: HTTPHeaders([HTTPField(name, location)]))

            let urls = rules.invalidated(by: head).map(\.absoluteString)

            #expect(urls == [CacheSample.url.absoluteString] + [other].compactMap(\.self))
        }
    }
}

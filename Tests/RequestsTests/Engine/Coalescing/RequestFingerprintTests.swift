// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// What makes two requests different, so that they never share a transfer.
@Suite(.bounded) struct RequestFingerprintTests {
    /// A property, and a change that makes a request different.
    struct Part: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout HTTPRequest, inout RequestOptions) -> Void
        var testDescription: String { name }

        init(_ name: String, _ change: @escaping @Sendable (inout HTTPRequest, inout RequestOptions) -> Void) {
            (self.name, self.change) = (name, change)
        }
    }

    static let partsOfRequests = [
        Part("address") { request, _ in request.url = home.appending(path: "other") },
        Part("query") { request, _ in request.query = ["page": 2] },
        Part("method") { request, _ in request.method = .head },
        Part("headers") { request, _ in request.headers[.accept] = "text/plain" },
        Part("body") { request, _ in request.body = .data(Data("query".utf8)) },
        Part("timeout") { request, _ in request.timeout = .seconds(7) },
        Part("cachePolicy") { request, _ in request.cachePolicy = .reloadIgnoringLocalCacheData },
        Part("allowsCellularAccess") { request, _ in request.allowsCellularAccess = false },
        Part("decodesContent") { request, _ in request.decodesContent = false },
        Part("usesHTTP2") { request, _ in request.usesHTTP2 = false },
        Part("usesCookies") { request, _ in request.usesCookies = false },
        Part("template") { request, _ in request.fields.template = URLRequest(url: home) },
        Part("originChange") { request, _ in request.fields.originChange = .other },
    ]

    static let partsOfOptions = [
        Part("timeout") { _, options in options.timeout = .seconds(7) },
        Part("redirect") { _, options in options.redirect = .refuse },
        Part("trust") { _, options in options.trust = .only([]) },
        Part("ownCaching") { _, options in options.caching = .none },
        Part("usesCookies") { _, options in options.usesCookies = false },
        Part("configureTask") { _, options in options.configureTask = { $0.priority = 1 } },
    ]

    /// The other properties of requests, and why no response depends on them.
    private static let ignoredOfRequests = [
        "authentication": "has added its fields",
        "credentialGenerations": "says which fields they are",
        "home": "decides about fields at the next redirect, which each operation follows itself",
        "withheldHeaders": "the same",
        "encodableQueries": "are in the query",
        "attachment": "the options, see below",
        "addressSource": "is decided when the address is complete",
    ]

    private static let ignoredOfOptions = [
        "deadline": "of each operation",
        "retry": "each operation decides about its next attempt",
        "maximumBodySize": "the transfer has the largest limit, and each operation checks its own",
        "maximumHeadSize": "the same",
        "validatesStatus": "each operation validates the response",
        "validStatusCodes": "the same",
        "coalesce": "says whether to share at all",
        "exclusivity": "the operation waits before its request is sent",
        "priority": "of each operation; the transfer has the highest",
        "tag": "for display",
        "httpPriority": "a hint",
        "isUnauthenticated": "decides about fields",
        "sensitiveHeaders": "for display",
        "omittedHeaders": "decides about fields",
        "crossOriginHeaders": "decides about fields",
        "conditions": "checked before the request is sent",
        "interceptors": "each operation has its own",
        "validators": "each operation has its own",
        "monitors": "each operation has its own",
        "bypassed": "says which interceptors the operation has",
        "userInfo": "for the operation's own interceptors",
        "changes": "were applied to the request",
    ]

    private static let ignoredOfConfigurations = [
        "environment": "requests of one client share only in one revision of it",
        "options": "see above", "deadline": "see above", "retry": "see above", "limits": "see above",
        "cookies": "of the environment; their field is a part of the request",
        "headerMarks": "for display, and for redirects",
        "conditions": "see above", "interceptors": "see above", "validators": "see above",
        "validStatusCodes": "see above",
        "chain": "follows from the other settings",
        "isContinuation": "the operation of the transfer is one, the others aren't",
        "heads": "of the transfer",
    ]

    private func fingerprint(_ part: Part? = nil) throws -> RequestFingerprint {
        var (request, options) = (HTTPRequest(url: home), RequestOptions())
        part?.change(&request, &options)
        return try #require(RequestFingerprint(request, RunConfiguration(options, [], in: RequestEnvironment())))
    }

    @Test(arguments: partsOfRequests + partsOfOptions)
    func requestsThatDifferShareNoTransfer(part: Part) throws {
        #expect(try fingerprint(part) != fingerprint())
        #expect(try fingerprint() == fingerprint())
    }

    @Test func copiesOfARequestThatConfiguresItsTaskShareATransfer() throws {
        let request = HTTPRequest(url: home).configuringTask { $0.priority = 1 }
        let fingerprints = try (0..<2).map { _ in
            let configuration = RunConfiguration(request.resolvedOptions, [], in: RequestEnvironment())
            return try #require(RequestFingerprint(request, configuration))
        }

        #expect(fingerprints[0] == fingerprints[1])
    }

    // MARK: New properties

    private func names(of value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }

    @Test func everyPropertyOfARequestIsAPartOrIgnoredForAReason() {
        let names = names(of: HTTPRequest(url: home).fields)
        #expect(names == Set(Self.partsOfRequests.map(\.name)).union(Self.ignoredOfRequests.keys))
    }

    @Test func everyOptionIsAPartOrIgnoredForAReason() throws {
        let options = RequestOptions()
        let policies = try #require(Mirror(reflecting: options).children.first { $0.label == "policies" })
        let names = names(of: options).subtracting(["policies"]).union(names(of: policies.value))
        #expect(names == Set(Self.partsOfOptions.map(\.name)).union(Self.ignoredOfOptions.keys))
    }

    @Test func everySettingOfARunIsAPartOrIgnoredForAReason() {
        let names = names(of: RunConfiguration(RequestOptions(), [], in: RequestEnvironment()))
        #expect(names == Set(["timeout", "redirect", "trust"]).union(Self.ignoredOfConfigurations.keys))
    }
}

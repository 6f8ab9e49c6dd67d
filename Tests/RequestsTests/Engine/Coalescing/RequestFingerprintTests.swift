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
        Part("originChange") { request, _ in request.fields.notes.originChange = .other },
    ]

    static let partsOfOptions = [
        Part("timeout") { _, options in options.timeout = .seconds(7) },
        Part("redirect") { _, options in options.redirect = .refuse },
        Part("trust") { _, options in options.trust = .only([]) },
        Part("caching") { _, options in options.caching = .none },
        Part("usesCookies") { _, options in options.usesCookies = false },
        Part("configureTask") { _, options in options.configureTask = { $0.priority = 1 } },
    ]

    /// The other properties of requests, and why no response depends on them.
    private static let ignoredOfRequests = [
        "authentication": "has added its fields",
        "credentialGenerations": "says which fields they are",
        "headerTargetURL": "decides about fields at the next redirect, which each operation follows itself",
        "withheldHeaders": "the same",
        "encodableQueries": "are in the query",
        "options": "belong to the configuration",
        "addressSource": "is decided when the address is complete",
    ]

    private static let ignoredOfConfigurations = [
        "environment": "requests of one client share only in one revision of it",
        "options": "each says whether it is a part",
        "deadline": "of each operation", "retry": "each operation decides about its next attempt",
        "limits": "the transfer has the largest limits, and each operation checks its own",
        "cookies": "of the environment; their field is a part of the request",
        "headerMarks": "for display, and for redirects",
        "conditions": "checked before the request is sent",
        "interceptors": "each operation has its own", "validators": "each operation has its own",
        "validStatusCodes": "each operation validates the response",
        "chain": "follows from the other settings",
        "isContinuation": "the operation of the transfer is one, the others aren't",
    ]

    private func fingerprint(_ part: Part? = nil) throws -> RequestFingerprint {
        var (request, options) = (HTTPRequest(url: home), RequestOptions())
        part?.change(&request, &options)
        return try #require(RequestFingerprint(request, RunConfiguration(options, [], in: RequestEnvironment())))
    }

    @Test(arguments: partsOfRequests + partsOfOptions)
    func differingRequestsHaveDifferentFingerprints(part: Part) throws {
        #expect(try fingerprint(part) != fingerprint())
        #expect(try fingerprint() == fingerprint())
    }

    @Test func copiesWithTaskConfigurationShareTransfer() throws {
        let request = HTTPRequest(url: home).configuringTask { $0.priority = 1 }
        let fingerprints = try (0..<2).map { _ in
            let configuration = RunConfiguration(request.resolvedOptions, [], in: RequestEnvironment())
            return try #require(RequestFingerprint(request, configuration))
        }

        #expect(fingerprints[0] == fingerprints[1])
    }

    // MARK: New properties

    private func names(of value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.compactMap(\.label)) }

    @Test func requestPropertiesAreCoveredOrIgnored() {
        let fields = HTTPRequest(url: home).fields
        let names = names(of: fields).subtracting(["notes"]).union(names(of: fields.notes))
        #expect(names == Set(Self.partsOfRequests.map(\.name)).union(Self.ignoredOfRequests.keys))
    }

    @Test func runSettingsAreCoveredOrIgnored() {
        let names = names(of: RunConfiguration(RequestOptions(), [], in: RequestEnvironment()))
        #expect(names == Set(["timeout", "redirect", "trust"]).union(Self.ignoredOfConfigurations.keys))
    }
}

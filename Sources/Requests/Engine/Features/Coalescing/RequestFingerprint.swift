// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Everything that the response to a sent request depends on: requests with equal fingerprints, over one transport,
/// share a transfer.
///
/// An option declares whether it is a part. For each stored property of a request and of its configuration, a test says
/// so. A new property fails the test, because one that is forgotten here gives a request the response to another one.
struct RequestFingerprint: Sendable, Hashable {
    /// Fields that identify requests in traces and logs, and that no response depends on.
    private static let tracing: Set<HTTPField.Name> = [
        "b3", "date", "request-id", "sentry-trace", "traceparent", "tracestate", "uber-trace-id",
        "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
        "x-cloud-trace-context", "x-correlation-id", "x-request-id",
    ]

    /// The settings of a run that its transfers depend on.
    private struct Settings: Hashable {
        let trust: TrustPolicy
        /// A redirect that is followed is cut, and one that isn't is the response.
        let redirect: RedirectPolicy
        /// Isn't sent, but one of the operations that share a response stores it for all.
        let caching: ResponseCache.Policy
        let options: RequestOptions

        init(_ configuration: RunConfiguration) {
            (trust, redirect) = (configuration.trust, configuration.redirect)
            (caching, options) = (configuration.options.caching, configuration.options.fingerprintOptions)
        }
    }

    private let method: HTTPMethod
    private let address: String
    private let fields: [HTTPField]
    private let body: Data
    private let timeout: Duration?
    private let cachePolicy: URLRequest.CachePolicy
    private let usesCookies: Bool
    private let allowsCellularAccess: Bool
    private let decodesContent: Bool
    private let usesHTTP2: Bool
    private let originChange: OriginChange
    private let template: URLRequest?
    private let networkAccessFlags: [Bool]
    private let settings: Settings

    /// Creates the fingerprint of a request; `nil` if it may change something at the server, or if its body may change
    /// each time that it is read.
    init?(_ request: HTTPRequest, _ configuration: RunConfiguration) {
        guard request.method.isSafe else { return nil }
        if request.body.isEmpty {
            body = Data()
        } else {
            guard let data = try? request.body.data() else { return nil }
            body = SHA256.digest(of: data)
        }
        method = request.method
        address = request.url.absoluteString
        fields = request.headers.filter { $0.name.isSensitive || !Self.tracing.contains($0.name) }
        timeout = request.timeout ?? configuration.timeout
        cachePolicy = request.cachePolicy
        usesCookies = configuration.options.usesCookies && request.usesCookies
        allowsCellularAccess = request.allowsCellularAccess
        decodesContent = request.decodesContent
        usesHTTP2 = request.usesHTTP2
        originChange = request.fields.notes.originChange
        template = request.fields.template
        networkAccessFlags = request.fields.template?.networkAccessFlags ?? []
        settings = Settings(configuration)
    }
}

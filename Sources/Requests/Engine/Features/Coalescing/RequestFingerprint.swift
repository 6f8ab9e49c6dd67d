// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Everything that determines the response to a request; requests with equal fingerprints over one transport share a
/// transfer.
///
/// Each option declares whether it is part of the fingerprint. For each stored property of a request and of its
/// configuration, a test declares the same, and fails for a new property. If the fingerprint lacked a relevant
/// property, a request could get the response to a different request.
struct RequestFingerprint: Sendable, Hashable {
    /// Fields that identify requests in traces and logs; no response depends on them.
    private static let tracingFields: Set<HTTPField.Name> = [
        "b3", "date", "request-id", "sentry-trace", "traceparent", "tracestate", "uber-trace-id",
        "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
        "x-cloud-trace-context", "x-correlation-id", "x-request-id",
    ]

    /// The settings of a run that its transfers depend on.
    private struct Settings: Hashable {
        let trust: TrustPolicy
        /// The redirect policy matters, because a redirect's content is truncated if it is followed, and complete
        /// otherwise.
        let redirect: RedirectPolicy
        /// The caching policy isn't sent, but one of the operations that share a response stores the response for all
        /// of them.
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

    /// Creates the fingerprint of a request.
    ///
    /// Returns `nil` if the request may change something on the server, or if reading its body twice may give different
    /// bytes.
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
        fields = request.headers.filter { $0.name.isSensitive || !Self.tracingFields.contains($0.name) }
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What goes on the wire, as far as an answer depends on it: requests of one identity, over one transport, get the same
/// answer.
struct WireIdentity: Sendable, Hashable {
    /// Fields that tell requests apart in traces and logs, and that no answer depends on.
    private static let tracing: Set<HTTPField.Name> = [
        "b3", "date", "request-id", "sentry-trace", "traceparent", "tracestate", "uber-trace-id",
        "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
        "x-cloud-trace-context", "x-correlation-id", "x-request-id",
    ]

    private let method: HTTPMethod
    private let address: String
    private let fields: [HTTPField]
    private let body: Data
    private let timeout: Duration?
    private let trust: TrustPolicy
    private let cachePolicy: URLRequest.CachePolicy
    private let usesCookies: Bool
    private let allowsCellularAccess: Bool
    private let hasLeftOrigin: Bool

    /// Makes the identity of a request; nil for one that has none: it may change something at the server, or its body
    /// may be another one each time that it is read.
    init?(_ request: HTTPRequest, _ options: RequestOptions, in environment: RequestEnvironment) {
        guard request.method.isSafe else { return nil }
        if request.body.isEmpty {
            body = Data()
        } else {
            guard let data = try? request.body.data() else { return nil }
            body = SHA256.digest(of: data)
        }
        method = request.method
        address = request.url.absoluteString
        fields = request.headers.filter { $0.name.isSecret || !Self.tracing.contains($0.name) }
        timeout = request.timeout ?? options.timeout ?? environment.timeout
        trust = options.trust ?? environment.trust
        cachePolicy = request.cachePolicy
        usesCookies = options.usesCookies
        allowsCellularAccess = request.allowsCellularAccess
        hasLeftOrigin = request.hasLeftOrigin
    }
}

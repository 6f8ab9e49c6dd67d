// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// One request that went to the transport on behalf of an operation, and what came of it.
///
/// An operation has one for its first try, one for every redirect that it follows, one for every retry, and one for every
/// further request that an interceptor sends by ``Next``.
public struct Attempt: Sendable {
    /// Why the attempt was made.
    public enum Cause: Sendable, Hashable {
        /// It is the first.
        case initial
        /// The one before was redirected here.
        case redirect
        /// The one before failed.
        case retry
        /// A redirect led to a challenge, which is answered without another attempt of the operation.
        case answer
    }

    /// Why the attempt was made.
    public let cause: Cause
    /// What was sent.
    public let request: HTTPRequest
    /// The head of what came back, if anything did.
    public internal(set) var response: HTTPResponseHead?
    /// Why the transfer failed, if it did.
    public internal(set) var error: RequestError?
    /// What the attempt took; nil where it was made up rather than sent.
    public internal(set) var metrics: Metrics?

    /// Makes the record of an attempt.
    public init(
        cause: Cause,
        request: HTTPRequest,
        response: HTTPResponseHead? = nil,
        error: RequestError? = nil,
        metrics: Metrics? = nil
    ) {
        self.cause = cause
        self.request = request
        self.response = response
        self.error = error
        self.metrics = metrics
    }

    /// Notes the end, and when it was, where the transport hasn't said.
    mutating func end(_ error: RequestError?, after duration: Duration) {
        self.error = error
        if metrics?.end == nil { metrics?.end = duration }
    }
}

extension Attempt: CustomStringConvertible {
    /// What was sent and what came of it, in a line without secrets.
    public var description: String {
        let outcome = error.map { $0.shortDescription } ?? response.map { "\($0.status)" } ?? "no answer"
        return "\(cause): \(request), \(outcome)"
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What an interceptor knows about the operation.
public struct InterceptorContext: Sendable {
    /// The identifier of the request.
    public let identifier: String
    /// Which try this is; 1 is the first.
    public let attempt: Int

    /// Makes a context, for tests of an interceptor.
    public init(identifier: String, attempt: Int) {
        self.identifier = identifier
        self.attempt = attempt
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RetryPolicy {
    /// The decision about a failure.
    public enum Decision: Sendable {
        /// Let the next interceptor decide; if the last one passes, the request fails.
        case pass
        /// Fail now: with another error that says more, or, if that is `nil`, with the present failure.
        case fail(with: (any Error)?)
        /// Retry after a wait. The operation keeps its place in the queue meanwhile, and a cancellation ends the wait.
        case retry(after: Duration)

        /// Fail with the present failure.
        public static let fail = Decision.fail(with: nil)

        /// Retry at once.
        public static let retry = Decision.retry(after: .zero)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RetryPolicy {
    /// A decision about a failure.
    public enum Decision: Sendable {
        /// Let the next interceptor, or finally the retry policy, decide.
        ///
        /// If the policy passes too, the request fails.
        case pass
        /// Fail immediately, with this error or, if it is `nil`, with the current failure.
        case fail(with: (any Error)?)
        /// Retry after a delay.
        ///
        /// During the delay, the operation keeps its slot of the queue. A cancellation ends the delay.
        case retry(after: Duration)

        /// Fail with the current failure.
        public static let fail = Decision.fail(with: nil)

        /// Retry immediately.
        public static let retry = Decision.retry(after: .zero)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What to do about a failure.
public enum RetryDecision: Sendable, Hashable {
    /// Let the next interceptor decide; when the last one passes, the failure stands.
    case pass
    /// Let the failure stand.
    case fail
    /// Try again after a wait. The operation keeps its place in the queue meanwhile, and a cancel ends the wait.
    case retry(after: Duration)

    /// Try again at once.
    public static let retry = RetryDecision.retry(after: .zero)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What to do about a failure.
public enum RetryDecision: Sendable {
    /// Let the next interceptor decide; when the last one passes, the failure stands.
    case pass
    /// Fail now: with another error that says more about it, or, where that is nil, with the failure as it is.
    case fail(with: (any Error)?)
    /// Try again after a wait. The operation keeps its place in the queue meanwhile, and a cancel ends the wait.
    case retry(after: Duration)

    /// Let the failure stand.
    public static let fail = RetryDecision.fail(with: nil)

    /// Try again at once.
    public static let retry = RetryDecision.retry(after: .zero)
}

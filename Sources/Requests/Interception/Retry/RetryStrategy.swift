// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How a validator has a request tried again: how often, after how long, and what to do before.
///
/// ```swift
/// environment.validators.append(.closure { response, context in
///     response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept
/// })
/// ```
///
/// Unlike a ``RetryPolicy`` it asks neither for the method nor for the status: the validator has looked. Only bodies
/// that can be sent again are.
public struct RetryStrategy: Sendable {
    /// What is done before the next try.
    public typealias Preparation = @Sendable (InterceptorContext) async throws -> Void

    /// How long to wait before each retry.
    public let backoff: Backoff
    /// How many retries there are at most, other retries of the operation included.
    ///
    /// When they are used up, the request fails, with a response that is good otherwise with the code
    /// `retryLimitReached`.
    public let limit: Int
    let prepare: Preparation?

    /// Makes a strategy.
    ///
    /// - Parameters:
    ///   - backoff: How long to wait before each retry.
    ///   - limit: How many retries there are at most.
    ///   - prepare: What is done before the wait, such as getting a new token; none by default. What it throws is the
    ///     failure of the operation.
    public init(backoff: Backoff, limit: Int = 1, prepare: Preparation? = nil) {
        self.backoff = backoff
        self.limit = limit
        self.prepare = prepare
    }

    /// At once.
    public static let immediate = immediate(limit: 1)

    /// At once.
    public static func immediate(limit: Int) -> RetryStrategy {
        RetryStrategy(backoff: .none, limit: limit)
    }

    /// After a wait that is always the same.
    public static func delayed(_ wait: Duration, limit: Int = 1) -> RetryStrategy {
        RetryStrategy(backoff: .constant(wait).jitter(.none), limit: limit)
    }

    /// After waits that double, with full jitter.
    public static func exponential(from base: Duration = .milliseconds(500), limit: Int = 3) -> RetryStrategy {
        RetryStrategy(backoff: .exponential(from: base), limit: limit)
    }

    /// After waits of 1, 1, 2, 3, 5 … units.
    public static func fibonacci(_ unit: Duration = .seconds(1), limit: Int = 3) -> RetryStrategy {
        RetryStrategy(backoff: .fibonacci(unit).jitter(.none), limit: limit)
    }

    /// After a task, such as a log-in, and a wait, none by default.
    ///
    /// Every operation runs its own task; where one has to serve all that wait, that is an
    /// ``AuthenticationInterceptor``.
    public static func after(
        _ task: @escaping Preparation,
        delay: Duration = .zero,
        limit: Int = 1
    ) -> RetryStrategy {
        RetryStrategy(backoff: .constant(delay).jitter(.none), limit: limit, prepare: task)
    }
}

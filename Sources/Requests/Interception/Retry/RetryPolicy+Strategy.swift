// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RetryPolicy {
    /// A validator's rules for retrying a request: how often, after which delay, and with which preparation.
    ///
    /// ```swift
    /// environment.validators.append(.closure { response, context in
    ///     response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept
    /// })
    /// ```
    ///
    /// Unlike a ``RetryPolicy``, a strategy ignores the method and the status, because the validator has already
    /// decided. A request is retried only if its body can be sent again.
    public struct Strategy: Sendable {
        /// Prepares the next attempt.
        public typealias Preparation = @Sendable (InterceptorChain.Context) async throws -> Void

        /// The delays before retries.
        public let backoff: RetryPolicy.Backoff
        /// The maximum number of retries, including other retries of the operation.
        ///
        /// After that, the request fails. If the response is otherwise acceptable, the failure has the code
        /// `retryLimitReached`.
        public let limit: Int
        let prepare: Preparation?

        /// Creates a strategy.
        ///
        /// - Parameters:
        ///   - backoff: The delays before retries.
        ///   - limit: The maximum number of retries.
        ///   - prepare: Prepares the next attempt before the delay, for example by getting a new token; `nil` by
        ///     default. If it throws an error, the operation fails with that error.
        public init(backoff: RetryPolicy.Backoff, limit: Int = 1, prepare: Preparation? = nil) {
            self.backoff = backoff
            self.limit = limit
            self.prepare = prepare
        }

        /// A strategy that retries once, immediately.
        public static let immediate = immediate(limit: 1)

        /// Returns a strategy that retries immediately.
        public static func immediate(limit: Int) -> Strategy {
            Strategy(backoff: .none, limit: limit)
        }

        /// Returns a strategy that retries after a constant delay.
        public static func delayed(_ wait: Duration, limit: Int = 1) -> Strategy {
            Strategy(backoff: .constant(wait).jitter(.none), limit: limit)
        }

        /// Returns a strategy that retries after delays that double, with full jitter.
        public static func exponential(from base: Duration = .milliseconds(500), limit: Int = 3) -> Strategy {
            Strategy(backoff: .exponential(from: base), limit: limit)
        }

        /// Returns a strategy that retries after delays of 1, 1, 2, 3, 5 … units.
        public static func fibonacci(_ unit: Duration = .seconds(1), limit: Int = 3) -> Strategy {
            Strategy(backoff: .fibonacci(unit).jitter(.none), limit: limit)
        }

        /// Returns a strategy that retries after a task, such as a login, and an optional delay.
        ///
        /// Every operation runs the task separately. To share one task among all waiting operations, use an
        /// ``AuthenticationInterceptor``.
        public static func after(
            _ task: @escaping Preparation,
            delay: Duration = .zero,
            limit: Int = 1
        ) -> Strategy {
            Strategy(backoff: .constant(delay).jitter(.none), limit: limit, prepare: task)
        }
    }
}

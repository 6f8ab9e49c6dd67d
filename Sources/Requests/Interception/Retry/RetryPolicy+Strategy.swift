// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RetryPolicy {
    /// A validator's rules for retrying a request: how often, after which wait, and with which preparation.
    ///
    /// ```swift
    /// environment.validators.append(.closure { response, context in
    ///     response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept
    /// })
    /// ```
    ///
    /// Unlike a ``RetryPolicy`` it ignores the method and the status, since the validator has decided. Only replayable
    /// bodies are retried.
    public struct Strategy: Sendable {
        /// The preparation of the next attempt.
        public typealias Preparation = @Sendable (InterceptorChain.Context) async throws -> Void

        /// The waits before retries.
        public let backoff: RetryPolicy.Backoff
        /// The maximum number of retries, including other retries of the operation.
        ///
        /// When they are used up, the request fails; if the response is otherwise good, with the code
        /// `retryLimitReached`.
        public let limit: Int
        let prepare: Preparation?

        /// Makes a strategy.
        ///
        /// - Parameters:
        ///   - backoff: The waits before retries.
        ///   - limit: The maximum number of retries.
        ///   - prepare: A preparation before the wait, such as getting a new token; none by default. An error that it
        ///     throws is the failure of the operation.
        public init(backoff: RetryPolicy.Backoff, limit: Int = 1, prepare: Preparation? = nil) {
            self.backoff = backoff
            self.limit = limit
            self.prepare = prepare
        }

        /// Retries at once.
        public static let immediate = immediate(limit: 1)

        /// Retries at once.
        public static func immediate(limit: Int) -> Strategy {
            Strategy(backoff: .none, limit: limit)
        }

        /// Retries after a constant wait.
        public static func delayed(_ wait: Duration, limit: Int = 1) -> Strategy {
            Strategy(backoff: .constant(wait).jitter(.none), limit: limit)
        }

        /// Retries after waits that double, with full jitter.
        public static func exponential(from base: Duration = .milliseconds(500), limit: Int = 3) -> Strategy {
            Strategy(backoff: .exponential(from: base), limit: limit)
        }

        /// Retries after waits of 1, 1, 2, 3, 5 … units.
        public static func fibonacci(_ unit: Duration = .seconds(1), limit: Int = 3) -> Strategy {
            Strategy(backoff: .fibonacci(unit).jitter(.none), limit: limit)
        }

        /// Retries after a task, such as a login, and a wait, none by default.
        ///
        /// Every operation runs its own task; to share one among all waiting operations, use an
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

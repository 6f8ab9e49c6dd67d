// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RetryPolicy {
    /// The delays before retries.
    ///
    /// ```swift
    /// RetryPolicy.Backoff.exponential(from: .milliseconds(500))      // up to 0.5 s, 1 s, 2 s, … 60 s, at random
    /// RetryPolicy.Backoff.constant(.seconds(2)).jitter(.none)        // 2 s, always
    /// ```
    ///
    /// By default, each delay is random between zero and the value of the curve (*full jitter*), so that clients that
    /// failed together don't retry together.
    public struct Backoff: Sendable, Hashable {
        /// The random part of a delay.
        public enum Jitter: Sendable, Hashable {
            /// No jitter: each delay is the full value of the curve.
            case none
            /// Half jitter: a random delay between half the value of the curve and the full value.
            case half
            /// Full jitter: a random delay between zero and the full value of the curve.
            case full
        }

        private enum Curve: Sendable, Hashable {
            case constant(Duration)
            case exponential(Duration, factor: Double)
            case fibonacci(Duration)
        }

        private let curve: Curve
        /// The maximum delay; one minute by default.
        public var maximum: Duration = .seconds(60)
        /// The random part of a delay; full jitter by default.
        public var jitter = Jitter.full

        private init(_ curve: Curve) {
            self.curve = curve
        }

        /// A backoff without delays.
        public static let none = constant(.zero)

        /// Returns a backoff with the same delay before every retry.
        public static func constant(_ wait: Duration) -> Backoff {
            Backoff(.constant(wait))
        }

        /// Returns a backoff whose delays grow by a factor, two by default; the first delay is `base`.
        public static func exponential(from base: Duration = .milliseconds(500), factor: Double = 2) -> Backoff {
            Backoff(.exponential(base, factor: factor.isFinite ? max(1, factor) : 1))
        }

        /// Returns a backoff in which each delay is the sum of the previous two: 1, 1, 2, 3, 5, 8 times `unit`.
        public static func fibonacci(_ unit: Duration = .seconds(1)) -> Backoff {
            Backoff(.fibonacci(unit))
        }

        /// Returns the same backoff with another jitter.
        public func jitter(_ jitter: Jitter) -> Backoff {
            var copy = self
            copy.jitter = jitter
            return copy
        }

        /// Returns the same backoff, limited to this maximum.
        public func capped(at maximum: Duration) -> Backoff {
            var copy = self
            copy.maximum = maximum
            return copy
        }

        /// Returns the delay before a retry; the first retry has the number 1.
        ///
        /// The delay is never negative, and never longer than the ``maximum``, whatever the number.
        public func delay(before retry: Int, random: RandomSource = .system) -> Duration {
            let full = min(max(.zero, unjitteredDelay(retry)), max(.zero, maximum))
            return switch jitter {
            case .none: full
            case .half: full * (0.5 + random.fraction() / 2)
            case .full: full * random.fraction()
            }
        }

        // Computes with seconds as `Double`, which doesn't trap on overflow.
        private func unjitteredDelay(_ retry: Int) -> Duration {
            let retry = max(1, retry)
            switch curve {
            case .constant(let wait):
                return wait
            case .exponential(let base, let factor):
                return multiply(base) { limit in
                    let exponent = min(Double(retry - 1), 1_024)
                    return min(pow(factor, exponent), limit)
                }
            case .fibonacci(let unit):
                return multiply(unit) { limit in
                    var (last, next, number) = (0.0, 1.0, 1)
                    while number < retry, next < limit { (last, next, number) = (next, last + next, number + 1) }
                    return next
                }
            }
        }

        /// Returns the product of `unit` and `count`, or the maximum if that is less.
        ///
        /// `count` receives the factor at which the maximum is reached, and needn't be exact beyond that.
        private func multiply(_ unit: Duration, by count: (_ limit: Double) -> Double) -> Duration {
            guard unit > .zero, maximum > .zero else { return .zero }
            let limit = maximum / unit
            let factor = count(limit)
            return factor >= limit ? maximum : unit * factor
        }
    }
}

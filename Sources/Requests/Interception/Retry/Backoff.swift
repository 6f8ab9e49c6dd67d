// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How long to wait before each retry.
///
/// ```swift
/// Backoff.exponential(from: .milliseconds(500))      // up to 0.5 s, 1 s, 2 s, … 60 s, at random
/// Backoff.constant(.seconds(2)).jitter(.none)        // 2 s, always
/// ```
///
/// By default a wait is of a random length up to what the curve gives, *full jitter*: clients that failed together then
/// don't come back together.
public struct Backoff: Sendable, Hashable {
    /// How much of a wait is left to chance.
    public enum Jitter: Sendable, Hashable {
        /// Nothing: every wait is as long as the curve says.
        case none
        /// Half of it: a wait is between one half and the whole.
        case half
        /// All of it.
        case full
    }

    private enum Curve: Sendable, Hashable {
        case constant(Duration)
        case exponential(Duration, factor: Double)
        case fibonacci(Duration)
    }

    private let curve: Curve
    /// What no wait is longer than; a minute by default.
    public var maximum: Duration = .seconds(60)
    /// How much of a wait is left to chance.
    public var jitter = Jitter.full

    private init(_ curve: Curve) {
        self.curve = curve
    }

    /// No wait.
    public static let none = constant(.zero)

    /// The same wait every time.
    public static func constant(_ wait: Duration) -> Backoff {
        Backoff(.constant(wait))
    }

    /// Waits that grow by a factor, two by default: the first is `base`.
    public static func exponential(from base: Duration = .milliseconds(500), factor: Double = 2) -> Backoff {
        Backoff(.exponential(base, factor: factor.isFinite ? max(1, factor) : 1))
    }

    /// Waits that grow by the sum of the two before: 1, 1, 2, 3, 5, 8 times `unit`.
    public static func fibonacci(_ unit: Duration = .seconds(1)) -> Backoff {
        Backoff(.fibonacci(unit))
    }

    /// The same waits with another share of chance.
    public func jitter(_ jitter: Jitter) -> Backoff {
        var copy = self
        copy.jitter = jitter
        return copy
    }

    /// The same waits, none longer than this.
    public func capped(at maximum: Duration) -> Backoff {
        var copy = self
        copy.maximum = maximum
        return copy
    }

    /// How long to wait before a retry; 1 is the first.
    ///
    /// Never negative, and never longer than the ``maximum``, whatever the number.
    public func delay(before retry: Int, random: RandomSource = .system) -> Duration {
        let full = min(max(.zero, length(retry)), max(.zero, maximum))
        return switch jitter {
        case .none: full
        case .half: full * (0.5 + random.fraction() / 2)
        case .full: full * random.fraction()
        }
    }

    // In seconds as Double, which have no overflow to trap on.
    private func length(_ retry: Int) -> Duration {
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

    /// So many units, or the maximum where that would be more; the product needn't be exact beyond the limit.
    private func multiply(_ unit: Duration, by count: (_ limit: Double) -> Double) -> Duration {
        guard unit > .zero, maximum > .zero else { return .zero }
        let limit = maximum / unit
        let factor = count(limit)
        return factor >= limit ? maximum : unit * factor
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The time since an instant, by any clock.
///
/// For the system's, which is the usual one, nothing is allocated.
package struct Stopwatch: Sendable {
    private enum Start: Sendable {
        case system(ContinuousClock.Instant)
        case other(@Sendable () -> Duration)
    }

    private let start: Start

    /// Starts to measure.
    package init(_ clock: any Clock<Duration>) {
        start = clock is ContinuousClock ? .system(.now) : .other(clock.stopwatch())
    }

    /// The time since the start.
    package var elapsed: Duration {
        switch start {
        case .system(let instant): instant.duration(to: .now)
        case .other(let elapsed): elapsed()
        }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns a closure that measures the time since now, for logic that counts in durations and knows no clock.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

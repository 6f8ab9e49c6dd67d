// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Measures the time since an instant, with any clock.
///
/// With the usual clock, `ContinuousClock`, a stopwatch needs no allocation.
package struct Stopwatch: Sendable {
    private enum Start: Sendable {
        case system(ContinuousClock.Instant)
        case other(@Sendable () -> Duration)
    }

    private let start: Start

    /// Creates a stopwatch that starts now.
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
    /// Returns a closure that measures the time since this call, for code that needs durations but no clock.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Clock where Duration == Swift.Duration {
    /// Returns a closure that measures the time since now, for logic that counts in durations and knows no clock.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }

    /// Returns when the clock has advanced by a duration, or throws if the task is cancelled before.
    ///
    /// The system's clocks are waited for without a thread of the cooperative pool.
    func wait(_ duration: Duration) async throws {
        try await Suspension.wait { resume in
            let timer = DelayedAction(after: duration, on: self) { CallExecutor.resuming { resume() } }
            return { timer.cancel() }
        }
    }
}

/// The time since an instant, by any clock.
///
/// For the system's, which is the usual one, nothing is allocated.
struct Stopwatch: Sendable {
    private enum Start: Sendable {
        case system(ContinuousClock.Instant)
        case other(@Sendable () -> Duration)
    }

    private let start: Start

    /// Starts to measure.
    init(_ clock: any Clock<Duration>) {
        start = clock is ContinuousClock ? .system(.now) : .other(clock.stopwatch())
    }

    /// The time since the start.
    var elapsed: Duration {
        switch start {
        case .system(let instant): instant.duration(to: .now)
        case .other(let elapsed): elapsed()
        }
    }
}

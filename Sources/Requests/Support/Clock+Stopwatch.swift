// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Clock where Duration == Swift.Duration {
    /// Tells how much time has passed since now, for logic that counts in durations and knows no clock.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

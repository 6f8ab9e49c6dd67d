// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTesting

/// A manual clock that also records the sleeps.
package final class TestClock: Clock {
    private let clock = ManualClock()
    /// The durations of all sleeps, in the order in which they began.
    package let sleeps = Recorder<Duration>()
    /// The sleeps that were ended by a cancellation.
    package let cancellations = Recorder<Void>()

    package init() {}

    package var now: ManualClock.Instant { clock.now }
    package var minimumResolution: Duration { clock.minimumResolution }

    package func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        // A deadline is a point of time: one that the clock reaches before the next line ends the sleep at once.
        sleeps.record(now.duration(to: deadline))
        do {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        } catch {
            cancellations.record(())
            throw error
        }
    }

    package func advance(by duration: Duration) {
        clock.advance(by: duration)
    }
}

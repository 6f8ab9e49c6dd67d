// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Processor time, which doesn't grow while the processor is busy with others.
package enum ProcessorTime {
    /// Returns the shortest time of ten runs of a closure on this thread: other threads slow down some of them.
    package static func shortest(of body: () -> Void) -> Duration {
        var shortest = Duration.seconds(Int64.max)
        for _ in 0..<10 {
            let start = now
            body()
            shortest = min(shortest, now - start)
        }
        return shortest
    }

    /// The time of all threads of the process.
    package static var ofProcess: Duration { time(CLOCK_PROCESS_CPUTIME_ID) }

    private static var now: Duration { time(CLOCK_THREAD_CPUTIME_ID) }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

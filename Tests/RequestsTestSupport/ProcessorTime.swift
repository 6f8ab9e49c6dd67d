// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The processor time of a thread, which doesn't grow while the processor is busy with other threads.
package enum ProcessorTime {
    /// Returns the shortest time of three runs of a closure on this thread.
    package static func shortest(of body: () -> Void) -> Duration {
        var shortest = Duration.seconds(Int64.max)
        for _ in 0..<3 {
            let start = now
            body()
            shortest = min(shortest, now - start)
        }
        return shortest
    }

    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

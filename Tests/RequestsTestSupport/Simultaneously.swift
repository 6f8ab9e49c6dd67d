// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// Runs two closures on two threads, as simultaneously as possible, and returns when both have returned.
///
/// Each thread waits for the other before it starts. `concurrentPerform` guarantees no second thread: on an idle
/// machine with two cores, it ran short closures one after the other, on the thread of the caller.
package func simultaneously(_ first: @escaping @Sendable () -> Void, and second: @escaping @Sendable () -> Void) {
    let (arrived, end) = (Locked(0), DispatchSemaphore(value: 0))
    let waitForTheOther = { @Sendable in
        arrived.withLock { $0 += 1 }
        while arrived.withLock({ $0 < 2 }) { sched_yield() }
    }
    Thread.detachNewThread {
        waitForTheOther()
        second()
        end.signal()
    }
    waitForTheOther()
    first()
    end.wait()
}

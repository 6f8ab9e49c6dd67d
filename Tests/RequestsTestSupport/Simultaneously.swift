// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Requests

/// Runs two closures on two threads, as simultaneously as possible.
package func simultaneously(_ first: @escaping @Sendable () -> Void, and second: @escaping @Sendable () -> Void) {
    DispatchQueue.concurrentPerform(iterations: 2) { $0 == 0 ? first() : second() }
}

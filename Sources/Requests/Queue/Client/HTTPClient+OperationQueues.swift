// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// The operation queues of a client: one with the client's limit, and two without a limit.
    ///
    /// The queues without a limit run subrequests, and operations that ignore the concurrency limit.
    final class OperationQueues: Sendable {
        let bounded: OperationQueue
        let nested = OperationQueue()
        /// The queue of operations that ignore the limit; it is suspended together with the bounded queue.
        let exempt = OperationQueue()
        let progressObserver = QueueProgressObserver()
        let subrequestOwner = SubrequestOwner()

        /// Whether the client has created the bounded queue itself.
        let ownsBoundedQueue: Bool

        init(_ queue: OperationQueue) {
            bounded = queue
            ownsBoundedQueue = false
        }

        init(_ width: Int) {
            bounded = OperationQueue()
            ownsBoundedQueue = true
            bounded.name = "Requests.HTTPClient"
            bounded.maxConcurrentOperationCount = Self.clampedWidth(width)
        }

        deinit { subrequestOwner.end() }

        /// Stamps a changed environment with a new revision, and copies the client's shared state into it.
        func stamp(_ environment: inout RequestEnvironment) {
            environment.revision = UUID()
            environment.subrequestOwner = subrequestOwner
            environment.hasOwnLimit = bounded.isLimited
            environment.shareConfiguration()
        }

        /// Clamps a limit to the range of `OperationQueue`, which traps on values below
        /// `defaultMaxConcurrentOperationCount` (−1), and runs nothing at zero.
        static func clampedWidth(_ width: Int) -> Int {
            width == OperationQueue.defaultMaxConcurrentOperationCount ? width : max(1, width)
        }
    }
}

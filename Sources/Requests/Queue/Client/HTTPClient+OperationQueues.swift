// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// The operation queue of a client, and two without a limit: for subrequests, and for operations that ignore the
    /// limit.
    final class OperationQueues: Sendable {
        let bounded: OperationQueue
        let nested = OperationQueue()
        /// The queue of operations that are exempt from the limit, which is suspended with the main one.
        let exempt = OperationQueue()
        let progressObserver = QueueProgressObserver()
        let subrequestOwner = SubrequestOwner()

        /// Whether the bounded queue is the client's own.
        let isOwn: Bool

        init(_ queue: OperationQueue) {
            bounded = queue
            isOwn = false
        }

        init(_ width: Int) {
            bounded = OperationQueue()
            isOwn = true
            bounded.name = "Requests.HTTPClient"
            bounded.maxConcurrentOperationCount = Self.width(width)
        }

        deinit { subrequestOwner.end() }

        /// Gives a changed environment its own identity, and what it has of the client.
        func complete(_ environment: inout RequestEnvironment) {
            environment.revision = UUID()
            environment.subrequestOwner = subrequestOwner
            environment.hasOwnLimit = bounded.isLimited
            environment.shareConfiguration()
        }

        /// The width in the system's range: `OperationQueue` traps on numbers below its default, and runs nothing with
        /// zero.
        static func width(_ width: Int) -> Int {
            width == OperationQueue.defaultMaxConcurrentOperationCount ? width : max(1, width)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// A token that is retained by every client that can resume a suspended queue.
    ///
    /// When the last such client is deallocated, the operations of the suspended queue are cancelled.
    final class SuspensionToken: Sendable {
        private let queues: OperationQueues

        init(_ queues: OperationQueues) {
            self.queues = queues
        }

        deinit {
            // No code can resume the operations any longer.
            for queue in queues.ownsBoundedQueue ? [queues.bounded, queues.exempt] : [queues.exempt]
            where queue.isSuspended {
                queue.cancelAllOperations()
                queue.isSuspended = false
            }
        }
    }
}

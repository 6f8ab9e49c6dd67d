// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// The right to resume a suspended queue, which all clients of the queue share.
    final class SuspensionToken: Sendable {
        private let queues: OperationQueues

        init(_ queues: OperationQueues) {
            self.queues = queues
        }

        deinit {
            // No code can resume the operations any more.
            for queue in queues.isOwn ? [queues.bounded, queues.exempt] : [queues.exempt] where queue.isSuspended
            {
                queue.cancelAllOperations()
                queue.isSuspended = false
            }
        }
    }
}

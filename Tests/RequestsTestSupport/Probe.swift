// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An operation with a completion whose calls are counted.
package final class Probe<R: NetworkRequest>: Sendable {
    package let operation: R.OperationType
    package let results = Recorder<Result<R.Success, R.Failure>>()
    private let completionQueue = DispatchQueue(label: "completions")

    package init(_ request: R, on queue: TestQueue, coalescing: Bool = false) {
        let (results, completionQueue) = (results, completionQueue)
        operation = queue.makeOperation(for: request, completionQueue: completionQueue, coalescing: coalescing) {
            results.record($0)
        }
    }

    /// Adds the request to a queue at once, as an application does.
    package init(adding request: R, to queue: some RequestQueue, coalescing: Bool = false) {
        let (results, completionQueue) = (results, completionQueue)
        operation = queue.addRequest(request, completionQueue: completionQueue, coalescing: coalescing) {
            results.record($0)
        }
    }

    /// Adds the operation to a queue.
    package func run(on queue: TestQueue) -> Self {
        queue.addOperation(operation)
        return self
    }

    /// Returns all calls of the completion until now, after those that are enqueued.
    package func completions() async -> [Result<R.Success, R.Failure>] {
        await completionQueue.drain()
        return results.elements
    }

    /// Returns all calls of the completion, once the operation has finished.
    package func ended() async -> [Result<R.Success, R.Failure>] {
        await operation.end()
        return await completions()
    }
}

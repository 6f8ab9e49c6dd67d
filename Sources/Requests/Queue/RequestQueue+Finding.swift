// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// The unfinished operation of an equal request on this queue: of the same type, with the same identifier.
    ///
    /// To send equal requests once, add them with `coalescing` instead: between this question and what you do about the
    /// answer, the operation may finish.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func requestCurrentlyExecuting<R: Request>(_ request: R) -> RequestOperation<R>? {
        for case let operation as RequestOperation<R> in operations
        where operation.result == nil && !operation.isFinished && operation.request == request {
            return operation
        }
        return nil
    }

    /// Cancels the operations of this queue whose requests fulfil a condition.
    ///
    /// ```swift
    /// queue.cancelRequests { $0 is ThumbnailRequest }
    /// ```
    ///
    /// Operations whose requests are yet to be made from the results of others aren't asked about.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    /// - Throws: What the condition throws; what was cancelled before stays so.
    public func cancelRequests(where condition: (any Request) throws -> Bool) rethrows {
        for case let operation as any AnyRequestOperation in operations {
            if let request = operation.anyRequest, try condition(request) { operation.cancel() }
        }
    }
}

/// A request operation whose request type isn't known.
private protocol AnyRequestOperation: Operation {
    var anyRequest: (any Request)? { get }
}

extension RequestOperation: AnyRequestOperation {
    fileprivate var anyRequest: (any Request)? { request }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Observes one operation, for example to notify monitors, report progress, or enforce a deadline.
///
/// An observer is attached to the operation, and no other code needs to know about it. It receives the events that
/// monitors receive, and additional steps. The methods are called on any thread and outside of all locks, and must not
/// block.
///
/// Observers receive events as they occur. Only ``EventEmitter`` adds the missing end events when an operation is
/// cancelled.
protocol OperationObserver: AnyObject, Sendable {
    func observe(_ event: OperationEvent)
    func observe(_ step: OperationStep)
}

extension OperationObserver {
    func observe(_ event: OperationEvent) {}
    func observe(_ step: OperationStep) {}

    /// Reports that the run of a request has begun.
    func begin(_ operation: AnyRequestOperation) {
        observe(.operationStarted)
        observe(.runBegan(operation))
    }
}

/// A step of an operation that its observers receive, but monitors don't.
enum OperationStep: Sendable {
    /// The operation must wait for another operation.
    case dependencyAdded(Operation)
    /// The run of a request has begun, and its settings are resolved.
    case runBegan(AnyRequestOperation)
    /// A validator has prepared the next attempt.
    case prepared
    /// A transfer begins to send a body, whose byte count may be unknown.
    case uploadBegan(total: Int64?)
    /// A number of bytes of the body have been sent, out of a total that may be unknown.
    case uploaded(Int64, of: Int64?)
    /// The content of a response has begun, following `offset` bytes from earlier transfers.
    case downloadBegan(offset: Int64, total: Int64?)
    /// The content of a response has begun, but its bytes don't count, as for a redirect.
    case downloadIgnored
    /// The byte count of the content so far.
    case downloaded(Int64)
    /// The completions were enqueued.
    case delivered
    /// The completions were enqueued, and the operation finishes as soon as it is started.
    case completedUnstarted
    /// The operation is finished.
    case finished
}

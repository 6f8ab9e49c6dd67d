// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A feature of one operation: monitors, progress, a deadline, a place in a line.
///
/// A feature is added to the operation, and no other code knows of it. It receives the events of monitors, and steps
/// that only features need, on any thread and outside of all locks, and must not block.
///
/// Features receive events as they occur. Only ``EventEmitter`` closes what a cancelled operation leaves open.
protocol OperationObserver: AnyObject, Sendable {
    func observe(_ event: OperationEvent)
    func observe(_ step: OperationStep)
}

extension OperationObserver {
    func observe(_ event: OperationEvent) {}
    func observe(_ step: OperationStep) {}

    /// Reports that the run of a request begins.
    func begin(_ operation: AnyRequestOperation) {
        observe(.operationStarted)
        observe(.runBegan(operation))
    }
}

/// A step of an operation that its features need to know, and monitors don't.
enum OperationStep: Sendable {
    /// The operation must wait for another one.
    case dependencyAdded(Operation)
    /// The run of a request begins, and its settings are resolved.
    case runBegan(AnyRequestOperation)
    /// A validator's preparation for another attempt has run.
    case prepared
    /// A transfer begins to send a body, of a byte count that may be unknown.
    case uploadBegan(total: Int64?)
    /// A number of bytes of the body have been sent, of the given total, if that is known.
    case uploaded(Int64, of: Int64?)
    /// The content of a response begins after bytes that were there before.
    case downloadBegan(offset: Int64, total: Int64?)
    /// The content of a response begins whose bytes don't count, such as that of a redirect.
    case downloadIgnored
    /// The byte count of the content so far.
    case downloaded(Int64)
    /// The completions were enqueued.
    case delivered
    /// The completions were enqueued, and the operation only waits to be started, to finish.
    case completedUnstarted
    /// The operation is finished.
    case finished
}

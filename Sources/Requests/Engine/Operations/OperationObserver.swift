// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A feature of one operation: monitors, progress, a deadline, a place in a line.
///
/// It is added to the operation, and no other code knows of it. It is called on any thread, outside of all locks, and
/// must not block.
protocol OperationObserver: AnyObject, Sendable {
    func observe(_ report: OperationReport)
}

/// A step of an operation, for its features.
enum OperationReport: Sendable {
    /// The operation is to wait for another one.
    case dependencyAdded(Operation)
    /// The run of a request begins.
    case started(AnyRequestOperation)
    /// A transfer of the run has come further.
    case transfer(TransferReport, Transfer)
    /// A validator's preparation for another attempt has run.
    case prepared
    /// The request is sent again after a delay.
    case retryScheduled(after: Duration, because: RequestError)
    /// The wait for a credential has begun or ended.
    case authentication(AuthenticationReport)
    /// The operation waits for the transfer of another one.
    case joined(OperationInfo)
    /// There is a result, and no completion has been called.
    case settled(OperationEvent.Outcome)
    /// The completions were enqueued.
    case delivered
    /// The completions were enqueued, and the operation only waits to be started, to finish.
    case settledUnstarted
    /// The operation is finished.
    case finished
}

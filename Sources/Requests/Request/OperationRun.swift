// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What changes while a ``NetworkOperation`` runs.
///
/// It is of no use to anybody else, and yet not a part of that generic class: there, each access would have to find out
/// first what it is made of.
struct OperationRun: Sendable {
    /// Whether the operation does its own work.
    enum Role: Sendable {
        /// It does.
        case alone
        /// It joins a shared transfer of its queue when it starts, if it is asked to, or if the request asks for it.
        case joining(Coalescer.Queue, isAsked: Bool)
        /// It has joined, waits for the leader, and works alone where the request can't be shared.
        case follower(any SharedWork)
        /// It works for others, and only if the method is safe.
        case leader(any SharedWork)
    }

    var exchange = Exchange()
    var options = RequestOptions()
    var deadline: DelayedAction?
    var role = Role.alone
    var notes: InterceptorNotes?
    var isPaused = false
    var flow: FlowControl?
    var receiver: (any ContentReceiver)?
    /// Why the content of the response mustn't go where it was to.
    var refusal: RequestError?
    /// What tells of the progress; nil as long as nobody has asked.
    var progress: ProgressFeeds?
    /// What the operation failed with, before the request made it an error of its own.
    var failure: (any Error)?
}

/// A ``SharedTransfer``, of whatever request.
protocol SharedWork: AnyObject, Sendable {
    /// The highest priority of those that wait; nil where nobody does.
    var priority: Operation.QueuePriority? { get }

    /// Sends everybody off to do their own work.
    func refuse()
}

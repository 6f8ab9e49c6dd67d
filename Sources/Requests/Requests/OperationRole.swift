// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How a ``NetworkOperation`` starts, and what it shares.
struct OperationRole: Sendable {
    /// What lets the operation share transfers.
    enum Sharing: Sendable {
        /// Nothing.
        case none
        /// A seat that is taken when it starts, if it is asked to share, or if the request asks for it.
        case atStart(QueueIdentity, isAsked: Bool)
        /// A seat.
        case seat(CoalescingSeat)
    }

    /// What waits for the start.
    enum Gate: Sendable {
        /// Nothing: the start makes the task.
        case closed
        /// A task that is made already, and is about to wait.
        case awaited
        /// A task that waits.
        case waiting(UnsafeContinuation<Void, Never>)
        /// Nothing any more.
        case open

        /// Lets a task continue that waits.
        func resume() {
            if case .waiting(let task) = self { task.resume() }
        }
    }

    var sharing = Sharing.none
    /// What the request and its environment say about the call.
    var plan: CallPlan?
    /// Whether the thread that starts the operation is a caller's, and is left at once.
    var startsElsewhere = false
    private var gate = Gate.closed

    /// Records that a task is made before the start.
    mutating func awaitStart() {
        if case .closed = gate { gate = .awaited }
    }

    /// Has the task wait for the start; true if that has come.
    mutating func wait(_ task: UnsafeContinuation<Void, Never>) -> Bool {
        if case .open = gate { return true }
        gate = .waiting(task)
        return false
    }

    /// Opens the gate, with the start or with a result, and returns what has waited.
    mutating func open() -> Gate {
        defer { gate = .open }
        return gate
    }
}

/// What tells the requests of one queue from all others.
struct QueueIdentity: Sendable {
    let queue: any AnyObject & Sendable
    /// Whether it is that of a client, all of whose environments are known.
    let isClient: Bool
}

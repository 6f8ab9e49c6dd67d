// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How a ``NetworkOperation`` starts, and whether it does its own work.
struct OperationRole: Sendable {
    /// Whose work the operation does.
    enum Part: Sendable {
        /// Its own.
        case alone
        /// It joins a shared transfer of its queue when it starts, if it is asked to, or if the request asks for it.
        case joining(Coalescer.Queue, isAsked: Bool)
        /// It has joined, waits for the leader, and works alone if the request can't be shared.
        case follower(any SharedWork)
        /// It works for others, and only if the method is safe.
        case leader(any SharedWork)
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

    var part = Part.alone
    /// What the request and its environment say about the call.
    var plan: CallPlan?
    /// Whether the thread that starts the operation is a caller's, and is left at once.
    var startsElsewhere = false
    /// What is resumed when the operation parts from the one that it has joined, or has its result.
    var joined: UnsafeContinuation<Bool, Never>?
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The variables of an operation's run: the task that makes and sends its request until there is a result.
struct RunState: Sendable {
    /// The configuration of a request that was created at the start; that of a known one is a constant.
    var configuration: RunConfiguration?
    /// Passes the operation to the task of the run, if that is made before the start; the task must not retain it.
    private(set) var start: OneShot<Start?>.State?
    /// Whether the thread that starts the operation is a caller's, and is left at once.
    var startsOnAnotherThread = false
    /// The facts known so far.
    var record = RunRecord()
    /// Whether the transfers are paused.
    var isPaused = false
    /// The values that interceptors have stored; `nil` until one does.
    var notes: InterceptorNotes?
    /// The interceptor that has thrown the last error of its own.
    var throwingInterceptor: String?
    /// The failure, before the request converted it to its own type.
    private(set) var failure: RequestError?

    private var task: Task<Void, Never>?
    private var isOver = false

    /// Whether a task waits for the start.
    var hasWaitingTask: Bool { start != nil }

    /// Records that a task waits for the start, unless the task has done so itself; it gets `nil` if there is a result
    /// before the start.
    mutating func recordWaitingTask() {
        if start == nil { start = isOver ? .filled(nil) : .empty(nil) }
    }

    /// Makes the task wait for the start; returns the operation, or `nil` for none, if that is known already.
    mutating func attach(_ waiter: UnsafeContinuation<Start?, Never>) -> Start?? {
        recordWaitingTask()
        return start?.attach(waiter)
    }

    /// Passes on the operation, which has started; returns the task to continue.
    mutating func begin(_ start: Start) -> UnsafeContinuation<Start?, Never>? {
        self.start?.fill(start).waiter
    }

    /// Stores the task of the run; `false` if the run is over, and the task to be cancelled.
    mutating func store(_ task: Task<Void, Never>) -> Bool {
        if !isOver { self.task = task }
        return !isOver
    }

    /// Records the failure; the first one stays.
    mutating func fail(with error: RequestError) {
        if failure == nil { failure = error }
    }

    /// Ends the run, since there is a result.
    mutating func end(cancellingTransfers: Bool) -> Cleanup {
        isOver = true
        defer { task = nil }
        return Cleanup(
            waiter: start?.fill(nil).waiter,
            task: task,
            transfers: cancellingTransfers ? record.transfers : [],
            failedTransfer: failure == nil ? nil : record.last
        )
    }

    /// The work that is stopped at the end of a run, outside of the lock.
    struct Cleanup: Sendable {
        let waiter: UnsafeContinuation<Start?, Never>?
        let task: Task<Void, Never>?
        let transfers: [Transfer]
        let failedTransfer: Transfer?

        /// Cancels the transfers, also those of tasks that an interceptor has left behind.
        func stopTransfers() {
            for transfer in transfers { transfer.cancel() }
            // The error owns the content now. Later content would be no complete answer, so the cancellation comes
            // first.
            failedTransfer?.forgetContent()
        }

        /// Cancels the task, which calls the handlers that interceptors have for that.
        func stopTask() {
            waiter?.resume(returning: nil)
            task?.cancel()
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The mutable state of an operation's run, including the task that builds and sends its request.
struct RunState: Sendable {
    /// The configuration of a deferred request, which is created at the start; otherwise `nil`.
    var configuration: RunConfiguration?
    /// Passes the operation to a task that was created before the start, because that task must not retain the
    /// operation.
    private(set) var start: OneShot<Start?>.State?
    /// Whether the run must begin on another thread, because the thread that starts the operation belongs to the
    /// caller.
    var startsOnAnotherThread = false
    /// The facts known so far.
    var record = RunRecord()
    /// Whether the transfers are paused.
    var isPaused = false
    /// The values that interceptors have stored; `nil` until one does.
    var notes: InterceptorNotes?
    /// The type name of the interceptor that threw the current error.
    var throwingInterceptor: String?
    /// The failure before it was converted to the request's failure type.
    private(set) var failure: RequestError?

    private var task: Task<Void, Never>?
    private var isOver = false

    /// Whether a task waits for the start.
    var hasWaitingTask: Bool { start != nil }

    /// Records that a task waits for the start, unless this is already recorded.
    ///
    /// If the run is already over, the task receives `nil` instead of the operation.
    mutating func recordWaitingTask() {
        if start == nil { start = isOver ? .filled(nil) : .empty(nil) }
    }

    /// Registers a task that waits for the start, or returns the value to resume it with, if already known.
    mutating func attach(_ waiter: UnsafeContinuation<Start?, Never>) -> Start?? {
        recordWaitingTask()
        return start?.attach(waiter)
    }

    /// Passes the started operation on, and returns the continuation of the waiting task, if any.
    mutating func begin(_ start: Start) -> UnsafeContinuation<Start?, Never>? {
        self.start?.fill(start).waiter
    }

    /// Stores the task of the run; returns `false` if the run is over, so that the task must be cancelled.
    mutating func store(_ task: Task<Void, Never>) -> Bool {
        if !isOver { self.task = task }
        return !isOver
    }

    /// Records the failure, unless there is already one.
    mutating func fail(with error: RequestError) {
        if failure == nil { failure = error }
    }

    /// Ends the run, because there is a result.
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

    /// The work to stop, outside of the lock, when a run has ended.
    struct Cleanup: Sendable {
        let waiter: UnsafeContinuation<Start?, Never>?
        let task: Task<Void, Never>?
        let transfers: [Transfer]
        let failedTransfer: Transfer?

        /// Cancels the transfers, including those in tasks that an interceptor started and didn't wait for.
        func stopTransfers() {
            for transfer in transfers { transfer.cancel() }
            // The error has a copy of the content. Cancel first, because content that arrived later would be
            // incomplete.
            failedTransfer?.releaseContent()
        }

        /// Cancels the task, and thereby calls the cancellation handlers of interceptors.
        func stopTask() {
            waiter?.resume(returning: nil)
            task?.cancel()
        }
    }
}

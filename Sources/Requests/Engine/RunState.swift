// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The mutable state of an operation's run, including the task that builds and sends its request.
struct RunState: Sendable {
    /// The configuration of a deferred request, which is created at the start; otherwise `nil`.
    var configuration: RunConfiguration?
    /// Passes the operation, when it has started, to a task that was created earlier and must not retain the operation.
    private(set) var start: OneShot<Start?>.State?
    /// Whether the run must begin on a thread other than the one that starts the operation, which may belong to the
    /// caller.
    var startsOnAnotherThread = false
    /// The record of the run so far.
    var record = RunRecord()
    /// Whether the transfers are paused.
    var isPaused = false
    /// The values that interceptors have stored; `nil` until an interceptor stores a value.
    var notes: InterceptorNotes?
    /// The type name of the interceptor that threw the current error.
    var throwingInterceptor: String?
    /// The failure before it was converted to the request's failure type.
    private(set) var failure: RequestError?

    private var task: Task<Void, Never>?
    private var isOver = false

    /// Whether a task is waiting for the operation to start.
    var hasWaitingTask: Bool { start != nil }

    /// Records that a task is waiting for the operation to start, unless already recorded.
    ///
    /// If the run is already over, the task receives `nil` instead of the operation.
    mutating func recordWaitingTask() {
        if start == nil { start = isOver ? .filled(nil) : .empty(nil) }
    }

    /// Registers the task that waits for the start, or returns the value to resume it with, if that is already known.
    mutating func attach(_ waiter: UnsafeContinuation<Start?, Never>) -> Start?? {
        recordWaitingTask()
        return start?.attach(waiter)
    }

    /// Stores the started operation for the waiting task, and returns the task's continuation if the task is suspended.
    mutating func begin(_ start: Start) -> UnsafeContinuation<Start?, Never>? {
        self.start?.fill(start).waiter
    }

    /// Stores the task of the run; returns `false` if the run is over, in which case the caller must cancel the task.
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

    /// The tasks and transfers to stop, outside of the lock, when a run has ended.
    struct Cleanup: Sendable {
        let waiter: UnsafeContinuation<Start?, Never>?
        let task: Task<Void, Never>?
        let transfers: [Transfer]
        let failedTransfer: Transfer?

        /// Cancels the transfers, including those in tasks that an interceptor started and didn't wait for.
        func stopTransfers() {
            for transfer in transfers { transfer.cancel() }
            // The error contains a copy of the content, so release the original. Cancel first, or content that arrives
            // after the release would be kept without its beginning.
            failedTransfer?.releaseContent()
        }

        /// Cancels the task, and thereby calls the cancellation handlers of interceptors.
        func stopTask() {
            waiter?.resume(returning: nil)
            task?.cancel()
        }
    }
}

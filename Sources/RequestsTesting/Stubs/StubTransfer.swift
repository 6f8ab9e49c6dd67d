// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer that plays a response instead of sending anything.
///
/// Events are reported outside the lock, one at a time. An event that arrives while another is being reported, such as
/// the end event after a cancellation, is queued.
final class StubTransfer: TransferHandle {
    private struct State: Sendable {
        /// The queued events.
        var pending: [TransferEvent] = []
        var isReporting = false
        var hasHead = false
        var hasEnded = false
        /// Closures that stop the work of the transfer; `nil` once they have been called or released.
        var stopActions: [@Sendable () -> Void]? = []

        mutating func enqueue(_ event: TransferEvent) {
            if case .head = event { hasHead = true }
            if case .end = event { hasEnded = true }
            pending.append(event)
        }

        /// Removes and returns the next event; `nil` if there is none, or if another thread is reporting an event.
        mutating func next() -> TransferEvent? {
            guard !isReporting, !pending.isEmpty else { return nil }
            isReporting = true
            return pending.removeFirst()
        }
    }

    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(State())

    init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    /// Whether the transfer hasn't ended.
    var isRunning: Bool { state.withLock { !$0.hasEnded } }

    func cancel() { end(.cancelled) }

    /// Ends the transfer with a timeout, and stops its work.
    func timeOut() { end(.timedOut, reason: "the stub sent no data before the timeout") }

    private func end(_ code: RequestError.Code, reason: String? = nil) {
        // Record the end before calling the stop actions. They cancel the responder, which then returns, and its
        // response must not be reported before the error.
        let hasHead = state.withLock { state -> Bool? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state.hasHead
        }
        guard let hasHead else { return }
        for stop in takeStopActions() { stop() }
        let error = RequestError(code, phase: hasHead ? .receiving : .sending, reason: reason)
        state.withLock { $0.enqueue(.end(error)) }
        deliver()
    }

    /// Reports an event, unless the transfer has ended.
    func report(_ event: TransferEvent) {
        state.withLock { state in
            if !state.hasEnded { state.enqueue(event) }
        }
        deliver()
    }

    private func deliver() {
        state.drain(
            next: { $0.next() },
            completed: { $0.isReporting = false },
            perform: { event in
                receive(event)
                // Release the closures to break a retain cycle, because one of them may retain a network transfer that
                // retains this transfer.
                if case .end = event { _ = takeStopActions() }
            }
        )
    }

    /// Adds a closure that stops some work of the transfer; calls it immediately if the transfer has already ended.
    func whenStopped(_ stop: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            state.stopActions?.append(stop)
            return state.stopActions == nil
        }
        if isStopped { stop() }
    }

    /// Runs asynchronous work until the transfer is stopped; an error that it throws ends the transfer.
    func run(_ work: @escaping @Sendable () async throws -> Void) {
        let task = Task {
            do { try await work() } catch { report(.end(RequestError(error))) }
        }
        whenStopped { task.cancel() }
    }

    private func takeStopActions() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.stopActions = nil }
            return state.stopActions ?? []
        }
    }
}

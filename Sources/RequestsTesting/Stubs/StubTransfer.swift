// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer that plays a response instead of sending anything.
///
/// Events are reported outside the lock, one after the other: one that comes during another, such as the end by a
/// cancel, waits until that is reported.
final class StubTransfer: TransferHandle {
    private struct State: Sendable {
        /// The events that wait for the one that is being reported.
        var pending: [TransferEvent] = []
        var isReporting = false
        var hasHead = false
        var hasEnded = false
        /// Closures that stop the work of the transfer; `nil` once they were called.
        var stopActions: [@Sendable () -> Void]? = []

        mutating func enqueue(_ event: TransferEvent) {
            if case .head = event { hasHead = true }
            if case .end = event { hasEnded = true }
            pending.append(event)
        }

        /// Returns the next event; `nil` if there is none, or if another thread is reporting one.
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

    /// Ends the transfer with a timeout, as too long a silence does, and stops its work.
    func timeOut() { end(.timedOut, reason: "the stub was silent for too long") }

    private func end(_ code: RequestError.Code, reason: String? = nil) {
        // Decided before the work stops, since a responder that is cancelled returns, and its response mustn't come
        // first.
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
                // The closures are released, since another transport's transfer among them holds this one.
                if case .end = event { _ = takeStopActions() }
            }
        )
    }

    /// Adds a closure that stops some work of the transfer; calls it at once if the transfer was cancelled.
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

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
        var stops: [@Sendable () -> Void]? = []

        /// Adds an event; returns whether no other is being reported, so that the caller has to deliver it.
        mutating func enqueue(_ event: TransferEvent) -> Bool {
            if case .head = event { hasHead = true }
            if case .end = event { hasEnded = true }
            pending.append(event)
            defer { isReporting = true }
            return !isReporting
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
        for stop in takeStops() { stop() }
        let error = RequestError(code, phase: hasHead ? .receiving : .sending, reason: reason)
        let isAlone = state.withLock { $0.enqueue(.end(error)) }
        if isAlone { deliver() }
    }

    /// Reports an event, unless the transfer has ended.
    func report(_ event: TransferEvent) {
        let isAlone = state.withLock { $0.hasEnded ? false : $0.enqueue(event) }
        if isAlone { deliver() }
    }

    private func deliver() {
        while let event = takePending() {
            receive(event)
            // The closures are released, since another transport's transfer among them holds this one.
            if case .end = event { _ = takeStops() }
        }
    }

    private func takePending() -> TransferEvent? {
        state.withLock { state in
            state.isReporting = !state.pending.isEmpty
            return state.isReporting ? state.pending.removeFirst() : nil
        }
    }

    /// Adds a closure that stops some work of the transfer; calls it at once if the transfer was cancelled.
    func whenStopped(_ stop: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            state.stops?.append(stop)
            return state.stops == nil
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

    private func takeStops() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.stops = nil }
            return state.stops ?? []
        }
    }
}

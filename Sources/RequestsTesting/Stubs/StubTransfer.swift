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
        let hasHead = state.withLock { $0.hasHead }
        let stops = takeStops()
        // Before the work stops, since a responder that is cancelled returns, and its response would come first.
        report(.end(RequestError(code, phase: hasHead ? .receiving : .sending, reason: reason)))
        for stop in stops { stop() }
    }

    /// Reports an event, unless the transfer has ended.
    func report(_ event: TransferEvent) {
        let isAlone = state.withLock { state in
            guard !state.hasEnded else { return false }
            if case .head = event { state.hasHead = true }
            if case .end = event { state.hasEnded = true }
            state.pending.append(event)
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard isAlone else { return }
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

    private func takeStops() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.stops = nil }
            return state.stops ?? []
        }
    }
}

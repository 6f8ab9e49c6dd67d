// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer that plays a response instead of sending anything.
final class StubTransfer: TransferHandle {
    /// The running work of the transfer, which is stopped with it.
    private struct Work {
        var isStopped = false
        var stops: [@Sendable () -> Void] = []
    }

    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(StubTransferState())
    private let work = Locked(Work())

    init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    /// Whether the transfer hasn't ended.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func cancel() { end(.cancelled) }

    /// Ends the transfer with a timeout, as too long a silence does, and stops its work.
    func timeOut() { end(.timedOut, reason: Self.silence) }

    private static let silence = "the stub was silent for too long"

    private func end(_ code: RequestError.Code, reason: String? = nil) {
        let error = state.withLock { $0.end(code, reason: reason) }
        stop()
        if let error { receive(.end(error)) }
    }

    /// Reports an event, unless the transfer has ended; the caller must report one event at a time.
    func report(_ event: TransferEvent) {
        guard state.withLock({ $0.begin(event) }) else { return }
        receive(event)
        if let error = state.withLock({ $0.finish() }) { receive(.end(error)) }
        if case .end = event { _ = takeStops() }
    }

    /// Adds a closure that stops some work of the transfer; calls it at once if the transfer was cancelled.
    func whenStopped(_ stop: @escaping @Sendable () -> Void) {
        let isStopped = work.withLock { work -> Bool in
            if !work.isStopped { work.stops.append(stop) }
            return work.isStopped
        }
        if isStopped { stop() }
    }

    private func stop() {
        for stop in takeStops() { stop() }
    }

    /// Releases the closures, since another transport's transfer among them holds this one.
    private func takeStops() -> [@Sendable () -> Void] {
        work.withLock { work in
            work.isStopped = true
            defer { work.stops = [] }
            return work.stops
        }
    }
}

/// The state of a transfer, for races between its events and an end from outside: one event at a time, and one end.
///
/// Events are reported outside the lock, so a cancel may come during one. Its end then waits until that event is
/// reported, since a receiver gets one call after the other.
struct StubTransferState: Sendable {
    private enum Phase {
        case idle
        case reporting
        /// The end is reported by the thread that is reporting an event.
        case ending(RequestError)
        case ended
    }

    private var phase = Phase.idle
    private var hasHead = false

    /// Whether the transfer hasn't ended.
    var isRunning: Bool {
        switch phase {
        case .idle, .reporting: true
        case .ending, .ended: false
        }
    }

    /// Begins to report an event; returns `false` if the transfer has ended.
    mutating func begin(_ event: TransferEvent) -> Bool {
        guard case .idle = phase else { return false }
        switch event {
        case .end: phase = .ended
        case .head:
            hasHead = true
            phase = .reporting
        default: phase = .reporting
        }
        return true
    }

    /// Ends the report of an event; returns the error of an end that came meanwhile.
    mutating func finish() -> RequestError? {
        switch phase {
        case .ending(let error):
            phase = .ended
            return error
        case .reporting:
            phase = .idle
            return nil
        case .idle, .ended: return nil
        }
    }

    /// Ends the transfer from outside; returns the error if its end is to be reported at once.
    mutating func end(_ code: RequestError.Code, reason: String? = nil) -> RequestError? {
        let error = RequestError(code, phase: hasHead ? .receiving : .sending, reason: reason)
        switch phase {
        case .idle:
            phase = .ended
            return error
        case .reporting:
            phase = .ending(error)
            return nil
        case .ending, .ended: return nil
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer that plays an answer instead of sending anything.
final class StubTransfer: Transfer {
    /// What is at work for the transfer, and has to be stopped with it.
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

    /// Whether nothing has ended the transfer.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func cancel() { end(.cancelled) }

    /// Ends the transfer as a silence does that was longer than the timeout, and stops what works for it.
    func timeOut() { end(.timedOut, reason: Self.silence) }

    private static let silence = "the stub was silent for too long"

    private func end(_ code: RequestError.Code, reason: String? = nil) {
        let error = state.withLock { $0.end(code, reason: reason) }
        stop()
        if let error { receive(.end(error)) }
    }

    /// Reports an event, unless the transfer has ended; the one that reports is the only one at any time.
    func report(_ event: TransferEvent) {
        guard state.withLock({ $0.begin(event) }) else { return }
        receive(event)
        if let error = state.withLock({ $0.finish() }) { receive(.end(error)) }
        if case .end = event { _ = takeStops() }
    }

    /// Notes how to stop something that works for the transfer; stops it at once where the transfer was cancelled.
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

    /// Lets go of what was at work: a transfer of another transport holds this one.
    private func takeStops() -> [@Sendable () -> Void] {
        work.withLock { work in
            work.isStopped = true
            defer { work.stops = [] }
            return work.stops
        }
    }
}

/// Who may report what, while a transfer and what ends it from outside race: one event at a time, and one end.
///
/// An event is reported outside the lock, so that a cancel may come while one is: its end then waits until that is done,
/// for the receiver is promised one call after the other.
struct StubTransferState: Sendable {
    private enum Phase {
        case idle
        case reporting
        /// The end will be reported by whoever reports just now.
        case ending(RequestError)
        case ended
    }

    private var phase = Phase.idle
    private var hasHead = false

    /// Whether nothing has ended the transfer.
    var isRunning: Bool {
        switch phase {
        case .idle, .reporting: true
        case .ending, .ended: false
        }
    }

    /// Asks to report an event; false where the transfer has ended.
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

    /// The event was reported; returns the error of the end that came meanwhile.
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

    /// Ends the transfer from outside; returns the error of the end where it is to be reported at once.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

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

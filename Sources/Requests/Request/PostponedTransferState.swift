// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Whether a postponed transfer has begun, and whom a cancel is for.
struct PostponedTransferState: Sendable {
    /// What a cancel comes to.
    enum Cancel: Sendable {
        /// It was cancelled before.
        case none
        /// It hasn't begun, and never will.
        case giveUp(DelayedAction?)
        /// It has begun.
        case cancel(any Transfer)
    }

    private enum Phase: Sendable {
        case waiting(DelayedAction?)
        case beginning
        case begun(any Transfer)
        /// Cancelled; with a transfer that is about to be there, or without one for ever.
        case cancelled
    }

    private var phase = Phase.waiting(nil)

    /// Keeps what ends the wait; true where that is to end at once.
    mutating func keep(_ timer: DelayedAction) -> Bool {
        switch phase {
        case .waiting: phase = .waiting(timer)
        case .cancelled: return true
        // It rang before it was kept.
        case .beginning, .begun: break
        }
        return false
    }

    /// Ends the wait; false where it was called off.
    mutating func begin() -> Bool {
        guard case .waiting = phase else { return false }
        phase = .beginning
        return true
    }

    /// Keeps the transfer; true where it was cancelled while it began.
    mutating func keep(_ transfer: any Transfer) -> Bool {
        guard case .beginning = phase else { return true }
        phase = .begun(transfer)
        return false
    }

    mutating func cancel() -> Cancel {
        defer { if case .begun = phase {} else { phase = .cancelled } }
        return switch phase {
        case .waiting(let timer): .giveUp(timer)
        case .begun(let transfer): .cancel(transfer)
        case .beginning, .cancelled: .none
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Whether a postponed transfer has begun, and whom a cancel is for.
///
/// What it was to do is let go of with the wait: who holds on to the handle of a transfer mustn't hold on to what the
/// transfer reports to, whose end is told when nobody does.
struct PostponedTransferState: Sendable {
    /// What is done when the wait is over, one way or the other.
    struct Plan: Sendable {
        /// Begins the transfer.
        let begin: @Sendable () -> any Transfer
        /// Tells the end of a transfer that was called off before it began.
        let giveUp: @Sendable () -> Void
    }

    /// What a cancel comes to.
    enum Cancel: Sendable {
        /// It was cancelled before, or is about to see that it was.
        case none
        /// It hasn't begun, and never will.
        case giveUp(@Sendable () -> Void, DelayedAction?)
        /// It has begun.
        case cancel(any Transfer)
    }

    private enum Phase: Sendable {
        case waiting(Plan, DelayedAction?)
        case beginning
        case begun(any Transfer)
        case cancelled
    }

    private var phase: Phase
    /// The number of the last wait: a timer may ring, and the next be there, before it is kept.
    private var number = 0

    init(_ plan: Plan) {
        phase = .waiting(plan, nil)
    }

    /// Begins a wait, and gives its number; nil where nobody waits any more.
    mutating func wait() -> Int? {
        guard case .waiting(let plan, _) = phase else { return nil }
        phase = .waiting(plan, nil)
        number += 1
        return number
    }

    /// Keeps what ends a wait; true where that is to end at once.
    mutating func keep(_ timer: DelayedAction, of number: Int) -> Bool {
        switch phase {
        case .waiting(let plan, _):
            if number == self.number { phase = .waiting(plan, timer) }
            return false
        case .beginning, .begun: return false
        case .cancelled: return true
        }
    }

    /// Ends the wait, and gives what begins the transfer; nil where it was called off.
    mutating func begin() -> (@Sendable () -> any Transfer)? {
        guard case .waiting(let plan, _) = phase else { return nil }
        phase = .beginning
        return plan.begin
    }

    /// Keeps the transfer; true where it was cancelled while it began.
    mutating func keep(_ transfer: any Transfer) -> Bool {
        guard case .beginning = phase else { return true }
        phase = .begun(transfer)
        return false
    }

    /// Calls the transfer off; one that has begun any number of times, as it is with transfers.
    mutating func cancel() -> Cancel {
        switch phase {
        case .waiting(let plan, let timer):
            phase = .cancelled
            return .giveUp(plan.giveUp, timer)
        case .beginning:
            phase = .cancelled
            return .none
        case .begun(let transfer): return .cancel(transfer)
        case .cancelled: return .none
        }
    }
}

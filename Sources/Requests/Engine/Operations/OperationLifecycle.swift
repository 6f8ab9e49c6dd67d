// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The lifecycle of one operation: all states, all inputs, and the resulting actions.
///
/// ```text
///  ready ─▶ starting ─▶ running(transfers)
///  each of them, on `complete`: ─▶ delivering ─▶ completed ─▶ finishing ─▶ finished
/// ```
///
/// The steps of a running operation aren't states here, because ``AnyRequestOperation/run(_:)`` performs them in order.
/// This state machine has no side effects: an input changes the state and returns an action, which the owner performs
/// after unlocking. It follows three rules:
///
/// - **One completion.** The first `complete` (success, failure, cancellation or deadline) wins. The owner stores the
///   result and enqueues the completions, then calls `handle(.delivered)`. Only after that can the operation finish, so
///   an observer of a finished operation sees its result, and finds the completions enqueued.
/// - **No early finish.** An operation must not finish before its queue has started it. The queue would break, and on
///   Linux it might access freed memory. If an operation is completed while it waits, its `start` finishes it.
/// - **Nothing after the completion.** No transfer begins after the completion, and running transfers end before the
///   operation finishes.
struct OperationLifecycle: Sendable, Hashable {
    enum State: Sendable, Hashable {
        /// Not started.
        case ready
        /// `start` is notifying observers that the operation is executing (`isExecuting`).
        case starting
        /// The work is running, with a number of transfers.
        case running(transfers: Int)
        /// The result is being stored, and its completions are being enqueued.
        case delivering(then: PendingStep?)
        /// The result is delivered, but a step is pending before the operation may finish.
        case completed(PendingStep)
        /// Observers are being notified that the operation is finished (`isFinished`).
        case finishing
        /// The operation is finished.
        case finished
    }

    /// A step that a complete operation awaits before it may finish.
    enum PendingStep: Sendable, Hashable {
        /// The queue must start the operation.
        case start
        /// `start` must finish notifying observers.
        case announcement
        /// The given number of transfers must end.
        case transfers(Int)
    }

    enum Input: Sendable, Hashable {
        /// The queue has started the operation.
        case start
        /// Observers have been notified that the operation is executing (`isExecuting`).
        case announced
        /// A transfer wants to begin.
        case transferBegins
        /// A transfer has ended.
        case transferEnded
        /// There is a result: success, failure, cancellation, or deadline.
        case complete
        /// The result is stored, and its completions are enqueued.
        case delivered
        /// Observers have been notified that the operation is finished (`isFinished`).
        case finished
    }

    enum Action: Sendable, Hashable {
        /// Do nothing: the input was repeated, or arrived too late.
        case none
        /// Notify observers that the operation is executing (`isExecuting`), then call `handle(.announced)`.
        case announce
        /// Begin the work.
        case execute
        /// Begin the transfer.
        case send
        /// Store the result and enqueue the completions, then call `handle(.delivered)`.
        case deliver
        /// Notify observers that the operation is finished (`isFinished`), then call `handle(.finished)`.
        case finish
    }

    private(set) var state = State.ready

    /// Handles an input, and returns the action to perform.
    mutating func handle(_ input: Input) -> Action {
        switch (state, input) {
        case (.ready, .start):
            return move(to: .starting, .announce)
        case (.starting, .announced):
            return move(to: .running(transfers: 0), .execute)
        case (.running(let count), .transferBegins):
            return move(to: .running(transfers: count + 1), .send)
        case (.running(let count), .transferEnded) where count > 0:
            return move(to: .running(transfers: count - 1), .none)

        case (.ready, .complete):
            return move(to: .delivering(then: .start), .deliver)
        case (.starting, .complete):
            return move(to: .delivering(then: .announcement), .deliver)
        case (.running(let count), .complete):
            return move(to: .delivering(then: count == 0 ? nil : .transfers(count)), .deliver)

        // If the pending step happens during the delivery, the delivering thread finishes the operation.
        case (.delivering(then: .start), .start), (.delivering(then: .announcement), .announced):
            return move(to: .delivering(then: nil), .none)
        case (.delivering(then: .transfers(let count)), .transferEnded):
            return move(to: .delivering(then: count == 1 ? nil : .transfers(count - 1)), .none)
        case (.delivering(then: let pendingStep?), .delivered):
            return move(to: .completed(pendingStep), .none)
        case (.completed(.transfers(let count)), .transferEnded) where count > 1:
            return move(to: .completed(.transfers(count - 1)), .none)
        case (.delivering(then: nil), .delivered), (.completed(.start), .start),
            (.completed(.announcement), .announced), (.completed(.transfers), .transferEnded):
            return move(to: .finishing, .finish)
        case (.finishing, .finished):
            return move(to: .finished, .none)

        default:
            return .none
        }
    }

    private mutating func move(to next: State, _ action: Action) -> Action {
        state = next
        return action
    }

    /// Whether the queue has started the operation, and observers haven't yet been notified that it is finished.
    var isExecuting: Bool {
        switch state {
        case .ready, .delivering(then: .start), .completed(.start), .finished: false
        default: true
        }
    }

    /// Whether the work is running, and there is no result yet.
    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// Whether transfers are running.
    var hasOpenTransfers: Bool {
        switch state {
        case .running(let count): count > 0
        case .delivering(then: .transfers), .completed(.transfers): true
        default: false
        }
    }

    /// Whether observers have been notified that the operation is finished.
    var isFinished: Bool { state == .finished }
}

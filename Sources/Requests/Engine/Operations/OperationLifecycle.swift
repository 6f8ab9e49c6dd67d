// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The life of one operation, for its queue and its observers: all states, all inputs, and the resulting actions.
///
/// ```text
///  ready ─▶ starting ─▶ running(transfers)
///  each of them, on `complete`: ─▶ delivering ─▶ completed ─▶ finishing ─▶ finished
/// ```
///
/// The steps of a running operation are those of a function (``AnyRequestOperation/run(_:)``), and no states here. The
/// machine has no effects: an input changes the state and returns the action that its owner has to perform after
/// unlocking. Three rules shape it:
///
/// - **One completion.** The first `complete` (success, failure, cancellation or deadline) wins; its owner stores the
///   result and enqueues the completions, then says `delivered`. Only after that can the operation finish, so an
///   observer of a finished operation sees its result, and finds the completions enqueued.
/// - **No early finish.** A queue that sees an operation finish before the queue has started it breaks (on Linux it
///   may touch freed memory). An operation that is complete while it waits is finished by its `start`.
/// - **Nothing after it.** No transfer begins after the completion, and running transfers end before the operation
///   finishes.
struct OperationLifecycle: Sendable, Hashable {
    enum State: Sendable, Hashable {
        /// Not started.
        case ready
        /// `start` is announcing that the operation executes.
        case starting
        /// The work is running, with a number of transfers.
        case running(transfers: Int)
        /// The result is being stored and its completions enqueued.
        case delivering(then: PendingStep?)
        /// The result is delivered; the pendingStep must come before the operation may finish.
        case completed(PendingStep)
        /// The end is being announced.
        case finishing
        /// Over.
        case finished
    }

    /// The step that a complete operation awaits before it may finish.
    enum PendingStep: Sendable, Hashable {
        /// The queue has to start it.
        case start
        /// `start` has to end its announcement.
        case announcement
        /// This number of transfers has to end.
        case transfers(Int)
    }

    enum Input: Sendable, Hashable {
        /// The queue started the operation.
        case start
        /// It is announced that the operation executes.
        case announced
        /// A transfer is to begin.
        case transferBegins
        /// A transfer has ended.
        case transferEnded
        /// There is a result: success, failure, cancellation, deadline.
        case complete
        /// The result is stored, and its completions are enqueued.
        case delivered
        /// The end is announced.
        case finished
    }

    enum Action: Sendable, Hashable {
        /// Nothing: the input was repeated, or too late.
        case none
        /// Announce that the operation executes, then say `announced`.
        case announce
        /// Begin the work.
        case execute
        /// Begin the transfer.
        case send
        /// Store the result and enqueue the completions, then say `delivered`.
        case deliver
        /// Announce the end, then say `finished`.
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

        // The delivering thread also finishes, if the pendingStep has come before it was done.
        case (.delivering(then: .start), .start), (.delivering(then: .announcement), .announced):
            return move(to: .delivering(then: nil), .none)
        case (.delivering(then: .transfers(let count)), .transferEnded):
            return move(to: .delivering(then: count == 1 ? nil : .transfers(count - 1)), .none)
        case (.delivering(then: let pendingStep?), .delivered):
            return move(to: .completed(pendingStep), .none)
        case (.completed(.transfers(let count)), .transferEnded) where count > 1:
            return move(to: .completed(.transfers(count - 1)), .none)
        case (.delivering(then: nil), .delivered), (.completed(.start), .start), (.completed(.announcement), .announced),
            (.completed(.transfers), .transferEnded):
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

    /// Whether the queue has started the operation, and the end isn't announced.
    var isExecuting: Bool {
        switch state {
        case .ready, .delivering(then: .start), .completed(.start), .finished: false
        default: true
        }
    }

    /// Whether the work is running, and there is no result.
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

    /// Whether the end is announced.
    var isFinished: Bool { state == .finished }
}

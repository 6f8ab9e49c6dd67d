// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The life of one operation, as far as its queue and its observers are concerned: every state that it can be in, every
/// input that it can get, and what to do about it.
///
/// ```text
///  ready ─▶ starting ─▶ running(transfers)
///  each of them, on `settle`: ─▶ delivering ─▶ settled ─▶ finishing ─▶ finished
/// ```
///
/// What a running operation does, and in which order, is a function's business (``Call/run(for:_:)``), and no state here.
/// The machine does nothing itself: an input moves it and returns the action that its owner has to take, after the lock
/// is free again. Three rules shape it:
///
/// - **One settlement.** The first `settle` — success, failure, cancel or deadline — wins; its owner stores the result
///   and enqueues the completions, then says `delivered`. Only after that can the operation finish, so whoever sees a
///   finished operation sees its result, and finds the completions enqueued.
/// - **No early finish.** A queue that sees an operation finish before the queue has started it breaks (on Linux it
///   may touch freed memory). An operation that is settled while it waits is finished by its `start`.
/// - **Nothing behind it.** No transfer begins after the settlement, and those that have begun end before the operation
///   finishes.
struct OperationLifecycle: Sendable, Hashable {
    enum State: Sendable, Hashable {
        /// Not started.
        case ready
        /// `start` is announcing that the operation executes.
        case starting
        /// The work is under way, with a number of transfers.
        case running(transfers: Int)
        /// The result is being stored and its completions enqueued.
        case delivering(then: Remainder?)
        /// The result is delivered; what remains must come before the operation may finish.
        case settled(Remainder)
        /// The end is being announced.
        case finishing
        /// Over.
        case finished
    }

    /// What has to come before a settled operation may finish.
    enum Remainder: Sendable, Hashable {
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
        /// There is a result: success, failure, cancel, deadline.
        case settle
        /// The result is stored, and its completions are enqueued.
        case delivered
        /// The end is announced.
        case finished
    }

    enum Action: Sendable, Hashable {
        /// Nothing: the input came twice, or too late.
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

    /// Moves on, and returns what to do.
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

        case (.ready, .settle):
            return move(to: .delivering(then: .start), .deliver)
        case (.starting, .settle):
            return move(to: .delivering(then: .announcement), .deliver)
        case (.running(let count), .settle):
            return move(to: .delivering(then: count == 0 ? nil : .transfers(count)), .deliver)

        // The thread that delivers finishes, if what remained has come before it was done.
        case (.delivering(then: .start), .start), (.delivering(then: .announcement), .announced):
            return move(to: .delivering(then: nil), .none)
        case (.delivering(then: .transfers(let count)), .transferEnded):
            return move(to: .delivering(then: count == 1 ? nil : .transfers(count - 1)), .none)
        case (.delivering(then: let remainder?), .delivered):
            return move(to: .settled(remainder), .none)
        case (.settled(.transfers(let count)), .transferEnded) where count > 1:
            return move(to: .settled(.transfers(count - 1)), .none)
        case (.delivering(then: nil), .delivered), (.settled(.start), .start), (.settled(.announcement), .announced),
            (.settled(.transfers), .transferEnded):
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

    /// Whether the queue has started the operation and not yet seen its end.
    var isExecuting: Bool {
        switch state {
        case .ready, .delivering(then: .start), .settled(.start), .finished: false
        default: true
        }
    }

    /// Whether transfers are under way.
    var hasOpenTransfers: Bool {
        switch state {
        case .running(let count): count > 0
        case .delivering(then: .transfers), .settled(.transfers): true
        default: false
        }
    }

    /// Whether the end is announced.
    var isFinished: Bool { state == .finished }
}

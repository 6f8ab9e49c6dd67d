// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The life of one operation: every state that it can be in, every input that it can get, and what to do about it.
///
/// ```text
///  ready ─▶ starting ─▶ building ─▶ adapting ─▶ sending ─▶ receiving ─▶ judging ─▶ decoding
///                       │  ▲   ▲                  ▲                     │ │           │
///                       ▼  │   └── waiting ◀──────┼──── retry ──────────┘ │           │
///                      joined                     └──── redirect ─────────┘           │
///  every one of them, on `settle`: ─▶ delivering ─▶ settled ─▶ finishing ─▶ finished ◀┘
/// ```
///
/// The machine does nothing itself: an input moves it and returns the action that its owner has to take, after letting
/// go of the lock. Two rules shape it:
///
/// - **One settlement.** The first `settle` — success, failure, cancel or deadline — wins; its owner stores the result
///   and enqueues the completions, then says `delivered`. Only after that can the operation finish, so whoever sees a
///   finished operation sees its result, and finds the completions enqueued.
/// - **No early finish.** A queue that sees an operation finish before the queue has started it breaks (on Linux it
///   may touch freed memory). An operation that is settled while it waits is finished by its `start`, and one whose
///   transfer is under way by the end of that transfer.
///
/// Attempts and transfers are numbered, and inputs bear the number: a callback that comes twice, or too late, doesn't
/// match and is nothing.
struct OperationLifecycle: Sendable, Hashable {
    enum State: Sendable, Hashable {
        /// Not started.
        case ready
        /// `start` is announcing that the operation executes.
        case starting
        /// The request is being made.
        case building
        /// Another operation does the work, and this one waits for its result.
        case joined
        /// Interceptors are changing the request.
        case adapting
        /// The request is on its way.
        case sending
        /// A response has begun.
        case receiving
        /// The transfer is over, and it is being decided what that means.
        case judging
        /// A retry is waiting for its time.
        case waiting
        /// The content is being made a value.
        case decoding
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
        /// The transfer has to end.
        case transfer
    }

    enum Input: Sendable, Hashable {
        /// The queue started the operation.
        case start
        /// It is announced that the operation executes.
        case announced
        /// The work is left to another operation.
        case join
        /// That operation can't do it after all.
        case part
        /// The request of this attempt is there.
        case built(attempt: Int)
        /// The interceptors are done with the request of this attempt.
        case adapted(attempt: Int)
        /// There is a response that nothing has to be sent for.
        case answered
        /// The head of the response to this transfer came.
        case responded(transfer: Int)
        /// This transfer is over.
        case ended(transfer: Int)
        /// The response is to be decoded.
        case accepted
        /// Another request is to be sent at once.
        case redirected
        /// The request is to be made again after a wait.
        case retry
        /// The wait before this attempt is over.
        case elapsed(attempt: Int)
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
        /// Make the request of this attempt.
        case build(attempt: Int)
        /// Have the other operation report its result.
        case attach
        /// Let the interceptors change the request of this attempt.
        case adapt(attempt: Int)
        /// Send the request as this transfer.
        case send(transfer: Int)
        /// Decide what the end of the transfer means.
        case judge
        /// Decode the content.
        case decode
        /// Wait, then say that the wait before this attempt is over.
        case wait(attempt: Int)
        /// Store the result and enqueue the completions, then say `delivered`.
        case deliver
        /// Announce the end, then say `finished`.
        case finish
    }

    private(set) var state = State.ready
    /// How often the request was made, the one that is waited for included.
    private(set) var attempt = 1
    /// How many requests went to the transport.
    private(set) var transfer = 0

    /// Moves on, and says what to do.
    mutating func handle(_ input: Input) -> Action {
        switch (state, input) {
        case (.ready, .start):
            return move(to: .starting, .announce)
        case (.starting, .announced), (.joined, .part):
            return move(to: .building, .build(attempt: attempt))
        case (.building, .join):
            return move(to: .joined, .attach)
        case (.building, .built(attempt)):
            return move(to: .adapting, .adapt(attempt: attempt))
        case (.adapting, .adapted(attempt)), (.judging, .redirected):
            transfer += 1
            return move(to: .sending, .send(transfer: transfer))
        case (.adapting, .answered), (.judging, .answered):
            return move(to: .judging, .judge)
        case (.sending, .responded(transfer)):
            return move(to: .receiving, .none)
        case (.sending, .ended(transfer)), (.receiving, .ended(transfer)):
            return move(to: .judging, .judge)
        case (.judging, .accepted):
            return move(to: .decoding, .decode)
        case (.judging, .retry):
            attempt += 1
            return move(to: .waiting, .wait(attempt: attempt))
        case (.waiting, .elapsed(attempt)):
            return move(to: .building, .build(attempt: attempt))

        case (.ready, .settle):
            return move(to: .delivering(then: .start), .deliver)
        case (.starting, .settle):
            return move(to: .delivering(then: .announcement), .deliver)
        case (.sending, .settle), (.receiving, .settle):
            return move(to: .delivering(then: .transfer), .deliver)
        case (.building, .settle), (.joined, .settle), (.adapting, .settle), (.judging, .settle), (.waiting, .settle),
            (.decoding, .settle):
            return move(to: .delivering(then: nil), .deliver)

        // The thread that delivers finishes, when what remained has come before it was done.
        case (.delivering(then: .start), .start), (.delivering(then: .announcement), .announced),
            (.delivering(then: .transfer), .ended(transfer)):
            return move(to: .delivering(then: nil), .none)
        case (.delivering(then: let remainder?), .delivered):
            return move(to: .settled(remainder), .none)
        case (.delivering(then: nil), .delivered), (.settled(.start), .start), (.settled(.announcement), .announced),
            (.settled(.transfer), .ended(transfer)):
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

    /// Whether the end is announced.
    var isFinished: Bool { state == .finished }
}

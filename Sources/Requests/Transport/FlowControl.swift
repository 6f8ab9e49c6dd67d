// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Has a transfer pause as long as anybody wants it to.
///
/// Wishes come from several threads: the one that receives, the one that consumes, the user's. Whoever changes the
/// first or the last of them calls the transfer. Two who come at once leave it as the later wish says: a transfer that
/// knows the order of wishes is told each, and of any other, the thread that calls it looks again afterwards.
struct FlowControl: Sendable {
    /// Who wants a pause.
    struct Reasons: OptionSet, Sendable {
        let rawValue: Int

        /// The user has asked for it.
        static let user = Reasons(rawValue: 1 << 0)
        /// What came hasn't been consumed.
        static let buffer = Reasons(rawValue: 1 << 1)
        /// A limit of the bandwidth.
        static let bandwidth = Reasons(rawValue: 1 << 2)
    }

    private struct State: Sendable {
        var reasons: Reasons
        /// The last wish of those whose wishes have numbers of their own.
        var buffer = PauseWish()
        /// What the transfer was told last.
        var told = PauseWish()
        var transfer: (any Transfer)?
        var isCalling = false
        var isOver = false
        var isCancelled = false

        /// What to ask of the transfer; nil where nothing is, or another thread is about to ask anyway.
        mutating func next() -> Call? {
            guard let transfer, told.isPaused == reasons.isEmpty else { return nil }
            let wished = transfer as? any WishedTransfer
            guard wished != nil || !isCalling, let wish = told.change(to: !reasons.isEmpty) else { return nil }
            if let wished { return .wish(wished, wish) }
            isCalling = true
            return wish.isPaused ? .pause(transfer) : .resume(transfer)
        }
    }

    /// What is asked of a transfer, outside of the lock.
    private enum Call: Sendable {
        case wish(any WishedTransfer, PauseWish)
        case pause(any Transfer)
        case resume(any Transfer)
    }

    private let state: Locked<State>

    init(_ reasons: Reasons = []) {
        state = Locked(State(reasons: reasons))
    }

    /// Says which transfer it is, which the wishes may be older than.
    func attach(_ transfer: any Transfer) {
        // What is replaced, by a transfer around it, is released outside of the lock.
        let (isCancelled, former) = change { state -> (Bool, (any Transfer)?) in
            guard !state.isOver else { return (false, nil) }
            defer { state.transfer = transfer }
            return (state.isCancelled, state.transfer)
        }
        withExtendedLifetime(former) {}
        if isCancelled { transfer.cancel() }
    }

    /// Lets go of the transfer, which is over; false where it was before.
    func detach() -> Bool {
        // What goes with the last reference to a transfer is somebody else's code, and mustn't run under the lock.
        let (isFirst, transfer) = state.withLock { state in
            defer { (state.isOver, state.transfer) = (true, nil) }
            return (!state.isOver, state.transfer)
        }
        return withExtendedLifetime(transfer) { isFirst }
    }

    /// Whether anybody wants a pause.
    var isHeld: Bool { state.withLock { !$0.reasons.isEmpty } }

    /// Whether the transfer is over.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the transfer, also one that is yet to be attached.
    func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func set(_ reason: Reasons, _ isWanted: Bool) {
        change { $0.reasons.set(reason, isWanted) }
    }

    /// Says whether what came waits to be consumed.
    func setBuffer(_ wish: PauseWish) {
        change { state in
            if state.buffer.update(to: wish) { state.reasons.set(.buffer, wish.isPaused) }
        }
    }

    @discardableResult
    private func change<Value: Sendable>(_ change: @Sendable (inout State) -> Value) -> Value {
        let (value, first) = state.withLock { state in
            let value = change(&state)
            return (value, state.next())
        }
        var call = first
        while let next = call {
            switch next {
            case .wish(let transfer, let wish):
                transfer.follow(wish)
                return value
            case .pause(let transfer): transfer.pause()
            case .resume(let transfer): transfer.resume()
            }
            call = state.withLock { state in
                state.isCalling = false
                return state.next()
            }
        }
        return value
    }
}

extension FlowControl.Reasons {
    fileprivate mutating func set(_ reason: Self, _ isWanted: Bool) {
        if isWanted { insert(reason) } else { remove(reason) }
    }
}

/// A transfer that is told wishes in any order, by several threads at a time.
///
/// Of any other, one thread at a time asks one thing after the other, which holds up the next wish where that thread is.
protocol WishedTransfer: Transfer {
    /// Pauses or goes on, unless it knows of a later wish.
    func follow(_ wish: PauseWish)
}

/// That a transfer pauses, or that it goes on: one of several wishes, which have numbers.
///
/// The thread that has decided on a wish may be interrupted before it has told it, for as long as the system likes, while
/// others decide and tell. So the one with the highest number counts, and no thread waits for another.
struct PauseWish: Sendable, Hashable {
    private(set) var isPaused = false
    private(set) var number = 0

    /// The next wish, if it isn't what is wished already.
    mutating func change(to isPaused: Bool) -> PauseWish? {
        guard isPaused != self.isPaused else { return nil }
        self.isPaused = isPaused
        number += 1
        return self
    }

    /// Takes a wish that isn't older than the one that is known; says whether it was taken.
    mutating func update(to wish: PauseWish) -> Bool {
        guard wish.number > number else { return false }
        self = wish
        return true
    }
}

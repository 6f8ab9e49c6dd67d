// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Pauses a transfer as long as there is a reason for it.
///
/// The reasons come from several threads: the receiving one, the consuming one, the user's. The thread that sets the
/// first or clears the last of them calls the transfer. If two threads do so at once, the later wish counts. A
/// ``WishedTransfer`` is passed each wish, with its number; for any other, the calling thread checks again afterwards.
struct FlowControl: Sendable {
    /// The reasons for a pause.
    struct Reasons: OptionSet, Sendable {
        let rawValue: Int

        /// The user has requested it.
        static let user = Reasons(rawValue: 1 << 0)
        /// Received content hasn't been consumed.
        static let buffer = Reasons(rawValue: 1 << 1)
        /// A limit of the bandwidth.
        static let bandwidth = Reasons(rawValue: 1 << 2)
    }

    private struct State: Sendable {
        var reasons: Reasons
        /// The last wish of the buffer, whose wishes have their own numbers.
        var buffer = PauseWish()
        /// The last wish that was passed to the transfer.
        var told = PauseWish()
        var transfer: (any TransferHandle)?
        var isCalling = false
        var isOver = false
        var isCancelled = false

        /// The next call of the transfer; `nil` if no call is needed, or another thread makes it anyway.
        mutating func next() -> Call? {
            guard let transfer, told.isPaused == reasons.isEmpty else { return nil }
            let wished = transfer as? any WishedTransfer
            guard wished != nil || !isCalling, let wish = told.change(to: !reasons.isEmpty) else { return nil }
            if let wished { return .wish(wished, wish) }
            isCalling = true
            return wish.isPaused ? .pause(transfer) : .resume(transfer)
        }
    }

    /// A call of a transfer, made outside of the lock.
    private enum Call: Sendable {
        case wish(any WishedTransfer, PauseWish)
        case pause(any TransferHandle)
        case resume(any TransferHandle)
    }

    private let state: Locked<State>

    init(_ reasons: Reasons = []) {
        state = Locked(State(reasons: reasons))
    }

    /// Sets the transfer; there may already be reasons for a pause.
    func attach(_ transfer: any TransferHandle) {
        // The former transfer, which this one wraps, is released outside of the lock.
        let (isCancelled, former) = change { state -> (Bool, (any TransferHandle)?) in
            guard !state.isOver else { return (false, nil) }
            defer { state.transfer = transfer }
            return (state.isCancelled, state.transfer)
        }
        withExtendedLifetime(former) {}
        if isCancelled { transfer.cancel() }
    }

    /// Releases the transfer, which is over; `false` if it was already over.
    func detach() -> Bool {
        // The last reference to a transfer may deallocate a caller's objects, which must not happen under the lock.
        let (isFirst, transfer) = state.withLock { state in
            defer { (state.isOver, state.transfer) = (true, nil) }
            return (!state.isOver, state.transfer)
        }
        return withExtendedLifetime(transfer) { isFirst }
    }

    /// Whether there is a reason for a pause.
    var isHeld: Bool { state.withLock { !$0.reasons.isEmpty } }

    /// Whether the transfer is cancelled, perhaps before it was attached.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the transfer is over.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the transfer, even if it is attached later.
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

    /// Sets or clears the reason that received content waits to be consumed.
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

/// A transfer that accepts wishes in any order, from several threads at a time.
///
/// Any other transfer is called by one thread at a time, which delays the next wish while a call lasts.
protocol WishedTransfer: TransferHandle {
    /// Pauses or resumes, unless a later wish is known.
    func follow(_ wish: PauseWish)
}

/// The wish that a transfer pauses or resumes: one of several, which are numbered.
///
/// The thread that has made a wish may be interrupted for any time before it passes it on, while others make and pass
/// on theirs. Therefore the one with the highest number counts, and no thread waits for another.
struct PauseWish: Sendable, Hashable {
    private(set) var isPaused = false
    private(set) var number = 0

    /// The next wish, if it differs from the present one.
    mutating func change(to isPaused: Bool) -> PauseWish? {
        guard isPaused != self.isPaused else { return nil }
        self.isPaused = isPaused
        number += 1
        return self
    }

    /// Takes a wish that is newer than the known one; returns whether it was taken.
    mutating func update(to wish: PauseWish) -> Bool {
        guard wish.number > number else { return false }
        self = wish
        return true
    }
}

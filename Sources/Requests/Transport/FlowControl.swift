// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Pauses a transfer as long as there is a reason for it, and cancels it, also before the transport has returned its
/// handle.
///
/// The reasons come from several threads: the receiving one, the consuming one, the user's.
package struct FlowControl: Sendable {
    /// The reasons for a pause.
    struct Reasons: OptionSet, Sendable {
        let rawValue: Int

        /// The user has requested it.
        static let user = Reasons(rawValue: 1 << 0)
        /// Received content hasn't been consumed.
        static let buffer = Reasons(rawValue: 1 << 1)
    }

    private struct State: Sendable {
        var reasons: Reasons = []
        var pauses = LatestFlag()
        var handle: (any TransferHandle)?
        var isOver = false
        var isCancelled = false

        /// A call of the handle.
        struct Call: Sendable {
            let handle: any TransferHandle
            let pauses: Bool
        }

        /// The next call of the handle; `nil` if none is due, or if another thread makes it.
        mutating func next() -> Call? {
            guard let handle, let pauses = pauses.next(!reasons.isEmpty) else { return nil }
            return Call(handle: handle, pauses: pauses)
        }
    }

    private let state = Locked(State())

    /// Sets the handle, which a transport may also do itself, before it returns it.
    func attach(_ handle: any TransferHandle) {
        // The former handle, which this one may wrap, is released outside of the lock.
        let (isCancelled, former, next) = state.withLock { state in
            guard !state.isOver else { return (false, nil as (any TransferHandle)?, nil as State.Call?) }
            let former = state.handle
            state.handle = handle
            return (state.isCancelled, former, state.next())
        }
        withExtendedLifetime(former) {}
        if isCancelled { handle.cancel() }
        pass(from: next)
    }

    /// Releases the handle of a transfer that is over; `false` if it was already over.
    func detach() -> Bool {
        // The last reference to a handle may deallocate a caller's objects, which must not happen under the lock.
        let (isFirst, handle) = state.withLock { state in
            defer { (state.isOver, state.handle) = (true, nil) }
            return (!state.isOver, state.handle)
        }
        return withExtendedLifetime(handle) { isFirst }
    }

    /// Whether the transfer is cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the transfer, also if it begins later.
    package func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    /// Pauses the transfer until received content is consumed.
    package func setFull(_ isFull: Bool) { set(.buffer, isFull) }

    /// Sets a reason for a pause, or clears it.
    func set(_ reason: Reasons, _ isWanted: Bool) {
        let next = state.withLock { state in
            if isWanted { state.reasons.insert(reason) } else { state.reasons.remove(reason) }
            return state.next()
        }
        pass(from: next)
    }

    /// Pauses or resumes the transfer, until the handle has the latest value.
    private func pass(from first: State.Call?) {
        state.drain(
            first,
            next: { $0.next() },
            completed: { $0.pauses.didEmit() },
            perform: { call in
                if call.pauses { call.handle.pause() } else { call.handle.resume() }
            }
        )
    }
}

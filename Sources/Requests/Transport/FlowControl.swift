// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Pauses and cancels a transfer, even before the transport has returned its handle.
///
/// A transfer is paused as long as there is at least one reason. Reasons may be set and cleared on different threads:
/// where content is received, where it is consumed, and where the user pauses the transfer.
package struct FlowControl: Sendable {
    /// The reasons for a pause.
    struct Reasons: OptionSet, Sendable {
        let rawValue: Int

        /// The user has paused the transfer.
        static let user = Reasons(rawValue: 1 << 0)
        /// The buffer is full of received content that hasn't been consumed.
        static let buffer = Reasons(rawValue: 1 << 1)
    }

    private struct State: Sendable {
        var reasons: Reasons = []
        var pauses = LatestFlag()
        var handle: (any TransferHandle)?
        var isOver = false
        var isCancelled = false

        /// A call that pauses or resumes the handle.
        struct Call: Sendable {
            let handle: any TransferHandle
            let pauses: Bool
        }

        /// Returns the next call of the handle; `nil` if no call is necessary, or another thread makes the call.
        mutating func nextCall() -> Call? {
            guard let handle, let pauses = pauses.next(!reasons.isEmpty) else { return nil }
            return Call(handle: handle, pauses: pauses)
        }
    }

    private let state = Locked(State())

    /// Sets the handle; a transport may also do so itself before it returns the handle.
    func attach(_ handle: any TransferHandle) {
        // Release the previous handle outside of the lock; the new handle may wrap it.
        let (isCancelled, previous, next) = state.withLock { state in
            guard !state.isOver else { return (false, nil as (any TransferHandle)?, nil as State.Call?) }
            let previous = state.handle
            state.handle = handle
            return (state.isCancelled, previous, state.nextCall())
        }
        withExtendedLifetime(previous) {}
        if isCancelled { handle.cancel() }
        performCalls(from: next)
    }

    /// Releases the handle of a finished transfer; returns `false` if that has already been done.
    func detach() -> Bool {
        // Release the handle outside of the lock, because that may deallocate the caller's objects.
        let (isFirst, handle) = state.withLock { state in
            defer { (state.isOver, state.handle) = (true, nil) }
            return (!state.isOver, state.handle)
        }
        return withExtendedLifetime(handle) { isFirst }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the transfer, even if it hasn't begun yet.
    package func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    /// Pauses the transfer while the buffer of received content is full, and then resumes it.
    package func setFull(_ isFull: Bool) { set(.buffer, isFull) }

    /// Sets or clears a reason for a pause.
    func set(_ reason: Reasons, _ isActive: Bool) {
        let next = state.withLock { state in
            if isActive { state.reasons.insert(reason) } else { state.reasons.remove(reason) }
            return state.nextCall()
        }
        performCalls(from: next)
    }

    /// Pauses or resumes the handle, and repeats if another thread has changed the state in the meantime.
    private func performCalls(from first: State.Call?) {
        state.drain(
            first,
            next: { $0.nextCall() },
            completed: { $0.pauses.didEmit() },
            perform: { call in
                if call.pauses { call.handle.pause() } else { call.handle.resume() }
            }
        )
    }
}

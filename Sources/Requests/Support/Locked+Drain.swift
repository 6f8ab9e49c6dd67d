// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Locked {
    /// Performs actions that the state has due: one after the other, outside of the lock, until none is due.
    ///
    /// Use it to call code that may call back, or that may take long: a caller's closure, a monitor, a transport. If
    /// `next` returns `nil` while another thread performs an action, no thread waits: the other thread also performs
    /// whatever becomes due in the meantime, so that the last action reflects the last state.
    ///
    /// - Parameters:
    ///   - first: The first action, which the transition that made it due has already taken; `nil` if there is none.
    ///   - next: Takes the next action from the state.
    ///   - completed: Records that the last action was performed.
    ///   - perform: Performs an action, which is released outside of the lock.
    @inlinable
    @inline(__always)
    package func drain<Action: Sendable>(
        _ first: Action?,
        next: (inout Value) -> Action?,
        completed: (inout Value) -> Void,
        perform: (Action) -> Void
    ) {
        var action = first
        while let current = action {
            perform(current)
            withExtendedLifetime(current) {
                action = withLock { value in
                    completed(&value)
                    return next(&value)
                }
            }
        }
    }

    /// Performs actions that the state has due, from the first one.
    @inlinable
    @inline(__always)
    package func drain<Action: Sendable>(
        next: (inout Value) -> Action?,
        completed: (inout Value) -> Void,
        perform: (Action) -> Void
    ) {
        drain(withLock { next(&$0) }, next: next, completed: completed, perform: perform)
    }
}

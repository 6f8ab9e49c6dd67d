// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Locked {
    /// Performs the pending actions of the state outside the lock, one after another, until there are none.
    ///
    /// Use this method to call code that may call back or take a long time, such as a caller's closure, a monitor or a
    /// transport. If another thread is already performing an action, `next` should return `nil`, so that this thread
    /// needn't wait. The other thread then also performs the actions that become pending in the meantime, so that the
    /// last action reflects the latest state.
    ///
    /// - Parameters:
    ///   - first: The first action, if the caller has already removed it from the state; otherwise `nil`.
    ///   - next: Removes and returns the next action of the state.
    ///   - completed: Records that the previous action has been performed.
    ///   - perform: Performs an action, which is released outside the lock.
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

    /// Performs all pending actions of the state outside the lock, one after another.
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

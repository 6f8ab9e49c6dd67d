// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that is set once, from any thread, and a task that waits for it.
///
/// Only the first value is used. Cancelling the task doesn't end its wait, so whoever cancels the task must also set a
/// value.
package struct OneShot<Value: Sendable>: Sendable {
    /// The state without a lock, for an owner that has its own lock.
    enum State: Sendable {
        /// There is no value yet, and a task may be waiting for it.
        case empty(UnsafeContinuation<Value, Never>?)
        /// The value was set before any task waited for it.
        case filled(Value)
        /// The value was consumed.
        case over

        /// Sets the value; returns whether it is the first, and the continuation to resume with it.
        mutating func fill(_ value: Value) -> (isFirst: Bool, waiter: UnsafeContinuation<Value, Never>?) {
            guard case .empty(let waiter) = self else { return (false, nil) }
            self = waiter == nil ? .filled(value) : .over
            return (true, waiter)
        }

        /// Returns the value if it is already set; otherwise stores the continuation.
        mutating func attach(_ waiter: UnsafeContinuation<Value, Never>) -> Value? {
            if let value = take() { return value }
            self = .empty(waiter)
            return nil
        }

        /// Removes and returns the value, if it is set.
        mutating func take() -> Value? {
            guard case .filled(let value) = self else { return nil }
            self = .over
            return value
        }
    }

    private let state = Locked(State.empty(nil))

    package init() {}

    /// Sets the value, unless one was set before; returns whether this value is used.
    @discardableResult
    package func fill(_ value: Value) -> Bool {
        let (isFirst, waiter) = state.withLock { $0.fill(value) }
        waiter?.resume(returning: value)
        return isFirst
    }

    /// Removes and returns the value, if it is already set.
    func take() -> Value? {
        state.withLock { $0.take() }
    }

    /// Waits for the value, and consumes it; must be called only once.
    package func value() async -> Value {
        await withUnsafeContinuation { waiter in
            if let value = state.withLock({ $0.attach(waiter) }) { waiter.resume(returning: value) }
        }
    }
}

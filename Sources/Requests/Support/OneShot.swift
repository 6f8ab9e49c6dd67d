// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that comes once, from any thread, and the task that waits for it.
///
/// The first value counts. Cancelling the task doesn't end its wait: whoever cancels it also fills in a value.
package struct OneShot<Value: Sendable>: Sendable {
    /// The state, for an owner that has a lock of its own.
    enum State: Sendable {
        /// There is no value yet; a task may wait for it.
        case empty(UnsafeContinuation<Value, Never>?)
        /// The value is there, and nothing has waited for it.
        case filled(Value)
        /// The value was taken.
        case over

        /// Takes a value in; returns whether it is the first, and the task to resume with it.
        mutating func fill(_ value: Value) -> (isFirst: Bool, waiter: UnsafeContinuation<Value, Never>?) {
            guard case .empty(let waiter) = self else { return (false, nil) }
            self = waiter == nil ? .filled(value) : .over
            return (true, waiter)
        }

        /// Makes a task wait; returns the value if it is already there.
        mutating func attach(_ waiter: UnsafeContinuation<Value, Never>) -> Value? {
            if let value = take() { return value }
            self = .empty(waiter)
            return nil
        }

        /// Takes the value out, if it is there.
        mutating func take() -> Value? {
            guard case .filled(let value) = self else { return nil }
            self = .over
            return value
        }
    }

    private let state = Locked(State.empty(nil))

    package init() {}

    /// Fills in the value, unless there was one before; returns whether it counts.
    @discardableResult
    package func fill(_ value: Value) -> Bool {
        let (isFirst, waiter) = state.withLock { $0.fill(value) }
        waiter?.resume(returning: value)
        return isFirst
    }

    /// Takes the value, if it is already there.
    func take() -> Value? {
        state.withLock { $0.take() }
    }

    /// Waits for the value, and takes it; called once.
    package func value() async -> Value {
        await withUnsafeContinuation { waiter in
            if let value = state.withLock({ $0.attach(waiter) }) { waiter.resume(returning: value) }
        }
    }
}

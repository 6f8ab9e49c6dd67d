// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that is there later, for one task that waits for it.
///
/// It is for operations that nothing holds on to while they are waited for: releasing them leads to a value, too.
///
/// The wait isn't ended by a cancel of the task: the cancel has to lead to a value.
final class Promise<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open(CheckedContinuation<Value, Never>?)
        /// The value is there, and nothing has waited for it yet.
        case kept(Value)
        case over
    }

    private let state = Locked(State.open(nil))

    /// Whether the value is there, or has been.
    var isKept: Bool {
        state.withLock { state in
            if case .open = state { false } else { true }
        }
    }

    /// Gives the value, unless one was given before.
    func keep(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard case .open(let waiter) = state else { return nil }
            state = waiter == nil ? .kept(value) : .over
            return waiter
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value, and takes it; called once.
    func take() async -> Value {
        await withCheckedContinuation { waiter in
            let value = state.withLock { state -> Value? in
                guard case .kept(let value) = state else {
                    state = .open(waiter)
                    return nil
                }
                state = .over
                return value
            }
            if let value { waiter.resume(returning: value) }
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Lock-protected state with conditions that tasks can await; every such wait in this module uses this type.
package struct AwaitableState<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isMet: @Sendable (State) -> Bool
        let outcome: OneShot<Result<State, any Error>>
    }

    private struct Storage: Sendable {
        var state: State
        var lastWaiterID = 0
        var waiters: [Int: Waiter] = [:]

        /// Removes and returns the waiters whose condition is met, in order of arrival; `nil` if there are none.
        mutating func takeSatisfiedWaiters() -> (waiters: [Waiter], state: State)? {
            guard !waiters.isEmpty else { return nil }
            let due = waiters.filter { $0.value.isMet(state) }.sorted { $0.key < $1.key }
            for (id, _) in due { waiters[id] = nil }
            return due.isEmpty ? nil : (due.map(\.value), state)
        }
    }

    private let storage: Locked<Storage>

    package init(_ state: State) {
        storage = Locked(Storage(state: state))
    }

    /// Changes the state, and resumes the waiters whose condition it then meets, outside the lock.
    @discardableResult
    package func withLock<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        let (result, due) = storage.withLock { storage in
            let result = change(&storage.state)
            return (result, storage.takeSatisfiedWaiters())
        }
        if let (waiters, state) = due {
            for waiter in waiters { waiter.outcome.fill(.success(state)) }
        }
        return result
    }

    /// Waits until the state meets a condition; returns immediately if it already does.
    ///
    /// - Parameters:
    ///   - awaited: A description of what the test awaits.
    ///   - limit: The maximum time to wait, in real time.
    ///   - callSite: The source location of the wait in the test.
    ///   - summary: Returns a description of the state, for the error message.
    ///   - isMet: Returns whether the state meets the condition.
    /// - Returns: The state that met the condition.
    /// - Throws: ``WaitTimeoutError`` when the limit is reached, or `CancellationError` if the task is cancelled first.
    @discardableResult
    package func wait(
        for awaited: String,
        timeout limit: Duration,
        at callSite: CallSite,
        summary: @escaping @Sendable (State) -> String,
        until isMet: @escaping @Sendable (State) -> Bool
    ) async throws -> State {
        let outcome = OneShot<Result<State, any Error>>()
        let (id, current) = storage.withLock { storage in
            guard !isMet(storage.state) else { return (0, storage.state as State?) }
            storage.lastWaiterID += 1
            storage.waiters[storage.lastWaiterID] = Waiter(isMet: isMet, outcome: outcome)
            return (storage.lastWaiterID, nil)
        }
        if let current { return current }
        let timer = DelayedAction(after: limit, on: ContinuousClock()) {
            let state = summary(storage.withLock { $0.state })
            let error = WaitTimeoutError(limit: limit, awaited: awaited, state: state, callSite: callSite)
            outcome.fill(.failure(error))
        }
        defer {
            timer.cancel()
            storage.withLock { $0.waiters[id] = nil }
        }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.fill(.failure(CancellationError()))
        }
        return try result.get()
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A state behind a lock, whose changes tasks can await: the only wait for a condition in this module.
package struct Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isMet: @Sendable (State) throws -> Bool
        let outcome: OneShot<Result<Void, any Error>>
    }

    private struct Storage: Sendable {
        var state: State
        var lastWaiter = 0
        var waiters: [Int: Waiter] = [:]

        /// Removes and returns the tasks whose wait is over, in the order in which they came.
        mutating func takeDue() -> [(Waiter, Result<Void, any Error>)] {
            guard !waiters.isEmpty else { return [] }
            var due: [(Waiter, Result<Void, any Error>)] = []
            for (number, waiter) in waiters.sorted(by: { $0.key < $1.key }) {
                guard let outcome = Watched.outcome(of: waiter.isMet, state) else { continue }
                due.append((waiter, outcome))
                waiters[number] = nil
            }
            return due
        }
    }

    private let storage: Locked<Storage>

    package init(_ state: State) {
        storage = Locked(Storage(state: state))
    }

    /// Changes the state, and resumes the tasks whose condition it meets, outside the lock.
    @discardableResult
    package func withLock<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        let (result, due) = storage.withLock { storage in
            let result = change(&storage.state)
            return (result, storage.takeDue())
        }
        for (waiter, outcome) in due { waiter.outcome.fill(outcome) }
        return result
    }

    /// Waits until the state meets a condition; returns at once if it does.
    ///
    /// - Parameters:
    ///   - awaited: What is awaited, in words.
    ///   - limit: The maximum time to wait, in real time.
    ///   - place: The place of the wait in the test.
    ///   - summary: Returns what has happened, in words.
    ///   - isMet: Returns whether the wait is over; an error that it throws ends the wait.
    /// - Throws: ``WaitTimeoutError`` at the limit, the error of the condition, or `CancellationError` if the task is
    ///   cancelled before.
    package func wait(
        for awaited: String,
        timeout limit: Duration,
        at place: SourcePlace,
        summary: @escaping @Sendable (State) -> String,
        until isMet: @escaping @Sendable (State) throws -> Bool
    ) async throws {
        let outcome = OneShot<Result<Void, any Error>>()
        let (number, decided) = storage.withLock { storage in
            storage.lastWaiter += 1
            let decided = Self.outcome(of: isMet, storage.state)
            if decided == nil { storage.waiters[storage.lastWaiter] = Waiter(isMet: isMet, outcome: outcome) }
            return (storage.lastWaiter, decided)
        }
        if let decided { return try decided.get() }
        let timer = DelayedAction(after: limit, on: ContinuousClock()) {
            let state = summary(storage.withLock { $0.state })
            let error = WaitTimeoutError(limit: limit, awaited: awaited, state: state, place: place)
            outcome.fill(.failure(error))
        }
        defer {
            timer.cancel()
            storage.withLock { $0.waiters[number] = nil }
        }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.fill(.failure(CancellationError()))
        }
        return try result.get()
    }

    private static func outcome(of isMet: (State) throws -> Bool, _ state: State) -> Result<Void, any Error>? {
        do {
            return try isMet(state) ? .success(()) : nil
        } catch {
            return .failure(error)
        }
    }
}

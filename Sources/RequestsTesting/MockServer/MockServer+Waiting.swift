// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Waits until so many requests were received since the start; at once where they were.
    ///
    /// ```swift
    /// let request = try await server.awaitRequest()
    /// ```
    ///
    /// - Returns: The last of them: the request with the index `count - 1`.
    /// - Throws: `CancellationError` where the task is cancelled, ``MockServerError/stopped`` where the server stops.
    @discardableResult
    public func awaitRequest(count: Int = 1) async throws -> RecordedRequest {
        let needed = max(1, count)
        try await core.wait { $0.requests.count >= needed }
        return requests[needed - 1]
    }

    /// Waits until just so many connections are open: 0 to see that a client has left, or that all is closed.
    ///
    /// - Throws: `CancellationError` where the task is cancelled, ``MockServerError/stopped`` where the server stops.
    public func awaitConnections(open count: Int) async throws {
        try await core.wait { $0.open == count }
    }
}

/// A task that waits for something to become true of the server.
struct ServerWaiter: Sendable {
    var isSatisfied: @Sendable (ServerCore.State) -> Bool
    var continuation: CheckedContinuation<Void, any Error>
}

extension ServerCore {
    /// Suspends the task until the condition is true, without looking more often than the state changes.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async throws {
        let id = state.withLock { $0.makeWaiterIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if condition(state) { return .success(()) }
                    if state.isStopped { return .failure(MockServerError.stopped) }
                    // A cancellation before this point found no waiter to end; the flag, set before, tells of it.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = ServerWaiter(isSatisfied: condition, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}

extension ServerCore.State {
    mutating func makeWaiterIdentifier() -> Int {
        nextWaiter += 1
        return nextWaiter
    }

    /// The tasks whose condition has become true; they are no longer waiting, and are to be resumed by the caller.
    mutating func takeSatisfiedWaiters() -> [CheckedContinuation<Void, any Error>] {
        guard !waiters.isEmpty else { return [] }
        let satisfied = waiters.filter { $0.value.isSatisfied(self) }
        for id in satisfied.keys { waiters[id] = nil }
        return satisfied.sorted { $0.key < $1.key }.map(\.value.continuation)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Waits until at least `count` requests were received since the start; returns at once if they already were.
    ///
    /// ```swift
    /// let request = try await server.awaitRequest()
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 counts as 1.
    ///   - timeout: The maximum time to wait; 30 seconds by default.
    ///   - clock: The clock that measures the timeout: a ``ManualClock`` to test the timeout itself.
    /// - Returns: The last of them: the request with the index `count - 1`.
    /// - Throws: ``MockServerError/timeout(after:awaited:)`` if they don't come in time,
    ///   ``MockServerError/notRecorded(maximum:)`` if the request came but isn't recorded, ``MockServerError/stopped`` if
    ///   the server stops first, or `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        count: Int = 1,
        within timeout: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> RecordedRequest {
        let needed = max(1, count)
        let requests = try await awaitRequests(needed, within: timeout, clock: clock)
        guard needed <= requests.count else { throw MockServerError.notRecorded(maximum: requests.count) }
        return requests[needed - 1]
    }

    /// Waits until at least `count` requests were received since the start; returns at once if they already were.
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 waits for nothing.
    ///   - timeout: The maximum time to wait; 30 seconds by default.
    ///   - clock: The clock that measures the timeout: a ``ManualClock`` to test the timeout itself.
    /// - Returns: The first `count` requests, in the order in which they were complete, as far as they are recorded.
    /// - Throws: ``MockServerError/timeout(after:awaited:)`` if they don't come in time, ``MockServerError/stopped`` if
    ///   the server stops first, or `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequests(
        _ count: Int,
        within timeout: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> [RecordedRequest] {
        try await core.wait(for: "\(count) requests", within: timeout, clock: clock) { $0.requestCount >= count }
        return Array(requests.prefix(max(0, count)))
    }

    /// Waits until exactly `count` connections are open: 0 shows that a client has disconnected, or that all are
    /// closed.
    ///
    /// - Parameters:
    ///   - count: The number of connections.
    ///   - timeout: The maximum time to wait; 30 seconds by default.
    ///   - clock: The clock that measures the timeout: a ``ManualClock`` to test the timeout itself.
    /// - Throws: ``MockServerError/timeout(after:awaited:)`` if it doesn't happen in time, ``MockServerError/stopped``
    ///   if the server stops first, or `CancellationError` if the task is cancelled.
    public func awaitConnections(
        open count: Int,
        within timeout: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        try await core.wait(for: "\(count) open connections", within: timeout, clock: clock) { $0.open == count }
    }
}

/// A task that waits until a condition on the server's state is true.
struct ServerWaiter: Sendable {
    var isSatisfied: @Sendable (ServerCore.State) -> Bool
    var continuation: CheckedContinuation<Void, any Error>
}

extension ServerCore {
    /// Suspends the task until the condition is true, or the timeout has passed.
    func wait(
        for what: String,
        within timeout: Duration,
        clock: any Clock<Duration>,
        until condition: @escaping @Sendable (State) -> Bool
    ) async throws {
        if state.withLock({ condition($0) }) { return }
        try await waiting(within: timeout, clock: clock) {
            let (requests, open) = self.state.withLock { ($0.requests.count, $0.open) }
            return MockServerError.timeout(
                after: timeout,
                awaited: "\(what); the server has \(requests) requests and \(open) open connections"
            )
        } body: {
            try await self.wait(until: condition)
        }
    }

    /// Suspends the task until the condition is true; the condition is checked when the state changes.
    private func wait(until condition: @escaping @Sendable (State) -> Bool) async throws {
        let id = state.withLock { $0.makeWaiterIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if condition(state) { return .success(()) }
                    if state.isStopped { return .failure(MockServerError.stopped) }
                    // A cancellation before this point found no waiter to end, but it has set the task's flag.
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

    /// Removes and returns the tasks whose condition has become true; the caller resumes them.
    mutating func takeSatisfiedWaiters() -> [CheckedContinuation<Void, any Error>] {
        guard !waiters.isEmpty else { return [] }
        let satisfied = waiters.filter { $0.value.isSatisfied(self) }
        for id in satisfied.keys { waiters[id] = nil }
        return satisfied.sorted { $0.key < $1.key }.map(\.value.continuation)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Waits until a request was received; returns at once if one already was.
    ///
    /// ```swift
    /// let request = try await server.awaitRequest()
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first request.
    /// - Throws: ``WaitTimeoutError`` if it doesn't come in time, if the server stops first, or if requests aren't
    ///   recorded; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ReceivedRequest {
        let requests = try await awaitRequests(1, timeout: limit, file: file, line: line)
        guard let first = requests.first else {
            let (state, callSite) = ("requests aren't recorded", CallSite(file, line))
            throw WaitTimeoutError(limit: limit, awaited: "a request", state: state, callSite: callSite)
        }
        return first
    }

    /// Waits until at least `count` requests were received since the start; returns at once if they already were.
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 waits for nothing.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first `count` requests, in the order in which they were complete, as far as they are recorded.
    /// - Throws: ``WaitTimeoutError`` if they don't come in time, or if the server stops first; `CancellationError` if
    ///   the task is cancelled.
    @discardableResult
    public func awaitRequests(
        _ count: Int,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> [ReceivedRequest] {
        let awaited = count == 1 ? "a request" : "\(count) requests"
        try await wait(for: awaited, limit, CallSite(file, line)) { $0.requestCount >= count }
        return Array(requests.prefix(max(0, count)))
    }

    /// Waits until exactly `count` connections are open: 0 shows that a client has disconnected, or that all are
    /// closed.
    ///
    /// - Parameters:
    ///   - count: The number of connections.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Throws: ``WaitTimeoutError`` if it doesn't happen in time, or if the server stops first; `CancellationError`
    ///   if the task is cancelled.
    public func awaitConnections(
        open count: Int,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await wait(for: "\(count) open connections", limit, CallSite(file, line)) { $0.openCount == count }
    }

    private func wait(
        for awaited: String,
        _ limit: Duration,
        _ callSite: CallSite,
        until isMet: @escaping @Sendable (ServerCore.State) -> Bool
    ) async throws {
        let state = try await core.state.wait(for: awaited, timeout: limit, at: callSite) {
            $0.summary
        } until: {
            isMet($0) || $0.isStopped
        }
        guard !isMet(state) else { return }
        let reason = "the server was stopped; \(state.summary)"
        throw WaitTimeoutError(limit: limit, awaited: awaited, state: reason, callSite: callSite)
    }
}

extension ServerCore.State {
    /// What has happened so far, for an error.
    fileprivate var summary: String { "the server has \(requestCount) requests and \(openCount) open connections" }
}

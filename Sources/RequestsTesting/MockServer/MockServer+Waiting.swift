// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Waits until a request has been received; returns immediately if one already has.
    ///
    /// ```swift
    /// let request = try await server.awaitRequest()
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first request.
    /// - Throws: ``WaitTimeoutError`` if no request arrives in time, if the server stops first, or if requests aren't
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

    /// Waits until at least `count` requests have been received since the start; returns immediately if they already
    /// have.
    ///
    /// - Parameters:
    ///   - count: The number of requests; with less than 1, the method returns immediately.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first `count` requests, in the order in which they were completed, except those that weren't
    ///   recorded.
    /// - Throws: ``WaitTimeoutError`` if the requests don't arrive in time, or if the server stops first;
    ///   `CancellationError` if the task is cancelled.
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

    /// Waits until exactly `count` connections are open.
    ///
    /// For example, wait for 0 connections to check that all clients have disconnected.
    ///
    /// - Parameters:
    ///   - count: The number of connections.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Throws: ``WaitTimeoutError`` if the number isn't reached in time, or if the server stops first;
    ///   `CancellationError` if the task is cancelled.
    public func awaitConnections(
        open count: Int,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await wait(for: count.counting("open connection"), limit, CallSite(file, line)) { $0.openCount == count }
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
    /// A description of the state, for an error message.
    fileprivate var summary: String {
        "the server has \(requestCount.counting("request")) and \(openCount.counting("open connection"))"
    }
}

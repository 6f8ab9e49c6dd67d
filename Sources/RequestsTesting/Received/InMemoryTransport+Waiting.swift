// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension InMemoryTransport {
    /// Waits until a request was sent; returns at once if one already was.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first request.
    /// - Throws: ``WaitTimeoutError`` if it doesn't come in time, as it never does if the transport doesn't record its
    ///   requests; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ReceivedRequest {
        try await recorded.awaitRequest(limit, CallSite(file, line), of: "the transport") { $0 }
    }

    /// Waits until at least `count` requests were sent; returns at once if they already were.
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 waits for nothing.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first `count` requests.
    /// - Throws: ``WaitTimeoutError`` if they don't come in time, as they never do if the transport doesn't record its
    ///   requests; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequests(
        _ count: Int,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> [ReceivedRequest] {
        try await recorded.awaitRequests(count, limit, CallSite(file, line), of: "the transport") { $0 }
    }
}

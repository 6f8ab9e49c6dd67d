// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension InMemoryTransport {
    /// Waits until a request has been sent; returns immediately if one already has.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first request.
    /// - Throws: ``WaitTimeoutError`` if no request is recorded in time, which always happens if the transport doesn't
    ///   record requests; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ReceivedRequest {
        try await recorded.awaitRequest(limit, CallSite(file, line), of: "the transport") { $0 }
    }

    /// Waits until at least `count` requests have been sent; returns immediately if they already have.
    ///
    /// - Parameters:
    ///   - count: The number of requests; with less than 1, the method returns immediately.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first `count` requests.
    /// - Throws: ``WaitTimeoutError`` if the requests aren't recorded in time, which always happens if the transport
    ///   doesn't record requests; `CancellationError` if the task is cancelled.
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

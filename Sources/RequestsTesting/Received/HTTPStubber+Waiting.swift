// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension HTTPStubber {
    /// Waits until a request was received; returns at once if one already was.
    ///
    /// ```swift
    /// async let menu = client.fetch(Get<Menu>("menu"))
    /// try await stubber.awaitRequest()        // it has arrived; its stub may still hold the response
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first request, whether a stub matches it or not.
    /// - Throws: ``WaitTimeoutError`` if it doesn't come in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ReceivedRequest {
        try await state.awaitRequest(limit, CallSite(file, line), of: "the stubber") { $0.requests }
    }

    /// Waits until at least `count` requests were received; returns at once if they already were.
    ///
    /// - Parameters:
    ///   - count: The number of requests; less than 1 waits for nothing.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: The first `count` requests, whether stubs match them or not.
    /// - Throws: ``WaitTimeoutError`` if they don't come in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequests(
        _ count: Int,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> [ReceivedRequest] {
        try await state.awaitRequests(count, limit, CallSite(file, line), of: "the stubber") { $0.requests }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension HTTPStubber {
    /// Waits until a request has been received; returns immediately if one already has.
    ///
    /// ```swift
    /// async let menu = client.fetch(Get<Menu>("menu"))
    /// try await stubber.awaitRequest()        // it has arrived; its stub may still hold the response
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first request, whether a stub matches it or not.
    /// - Throws: ``WaitTimeoutError`` if no request arrives in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func awaitRequest(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ReceivedRequest {
        try await state.awaitRequest(limit, CallSite(file, line), of: "the stubber") { $0.requests }
    }

    /// Waits until at least `count` requests have been received; returns immediately if they already have.
    ///
    /// - Parameters:
    ///   - count: The number of requests; with less than 1, the method returns immediately.
    ///   - limit: The maximum time to wait; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first `count` requests, whether stubs match them or not.
    /// - Throws: ``WaitTimeoutError`` if the requests don't arrive in time; `CancellationError` if the task is
    ///   cancelled.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Awaits the request or the error that is passed to the completion handler of a `makeURLRequest`.
///
/// Only the handler retains this object. If the handler is released without being called, the `deinit` ends the wait,
/// because the operation would otherwise never finish.
final class BuildReply: Sendable {
    /// The result; `nil` if the handler was released without being called.
    private let reply = OneShot<Result<HTTPRequest, any Error>?>()

    deinit {
        reply.fill(nil)
    }

    /// Calls the closure that creates a request, and waits for its reply.
    ///
    /// - Throws: The error that the handler was called with, or `CancellationError` if the task is cancelled first.
    static func wait(
        for make: (@escaping @Sendable (Result<HTTPRequest, any Error>) -> Void) -> Void
    ) async throws -> HTTPRequest {
        let reply = begin(make)
        // Most handlers reply immediately, so usually there is nothing to wait for.
        if let immediate = reply.take() { return try request(in: immediate) }
        let late = await withTaskCancellationHandler {
            await reply.value()
        } onCancel: {
            reply.fill(.failure(CancellationError()))
        }
        return try request(in: late)
    }

    private static func request(in reply: Result<HTTPRequest, any Error>?) throws -> HTTPRequest {
        if let reply { return try reply.get() }
        let reason = "`makeURLRequest` released its completion handler without calling it"
        throw RequestError(.invalidRequest, phase: .building, reason: reason)
    }

    // A separate function, because the caller must not retain the handler while it waits.
    @inline(never)
    private static func begin(
        _ make: (@escaping @Sendable (Result<HTTPRequest, any Error>) -> Void) -> Void
    ) -> OneShot<Result<HTTPRequest, any Error>?> {
        let handler = BuildReply()
        make { handler.reply.fill($0) }
        return handler.reply
    }
}

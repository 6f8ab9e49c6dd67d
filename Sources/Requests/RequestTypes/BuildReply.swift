// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The completion handler of a request, as a value that comes once.
///
/// Only the handler holds it. A handler that was released without a call would otherwise leave an operation that never
/// ends.
final class BuildReply: Sendable {
    /// The value; `nil` if the handler was released without a call.
    private let reply = OneShot<Result<HTTPRequest, any Error>?>()

    deinit {
        reply.fill(nil)
    }

    /// Makes a request, and waits for it.
    ///
    /// - Throws: The error that the handler was called with, or `CancellationError` if the task is cancelled before.
    static func wait(
        for make: (@escaping @Sendable (Result<HTTPRequest, any Error>) -> Void) -> Void
    ) async throws -> HTTPRequest {
        let reply = begin(make)
        // A reply that is already there, as most are, needs no wait.
        if let known = reply.take() { return try request(in: known) }
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

    // A function of its own, so that the handler isn't retained while it is waited for.
    @inline(never)
    private static func begin(
        _ make: (@escaping @Sendable (Result<HTTPRequest, any Error>) -> Void) -> Void
    ) -> OneShot<Result<HTTPRequest, any Error>?> {
        let handler = BuildReply()
        make { handler.reply.fill($0) }
        return handler.reply
    }
}

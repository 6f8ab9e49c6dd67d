// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request on this queue, and returns its content as it arrives.
    ///
    /// ```swift
    /// let stream = try await client.stream(HTTPRequest("https://example.com/log"))
    /// for try await chunk in stream { … }
    /// ```
    ///
    /// The operation keeps its place in the queue until the stream is consumed to its end, or deallocated, which
    /// cancels the transfer. Cancelling the task that waits for the head cancels it too.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - bufferSize: The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    /// - Returns: The stream of a good response, when its head was received.
    /// - Throws: The failure of the request; for a status that isn't accepted, it has the content.
    public func stream<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        bufferSize: Int = 256 * 1024
    ) async throws(RequestError) -> ResponseStream {
        var streamed = StreamedRequest<R, ResponseStream>(request: request)
        streamed.bufferSize = bufferSize
        return try await runUntilReply(streamed, to: streamed.stream, session)
    }

    /// Runs a request whose value outlives this call, such as an open stream, and returns the value.
    ///
    /// - Parameters:
    ///   - request: The request; its operation finishes when the caller is done with the value.
    ///   - reply: The reply, which the request fills with the value.
    ///   - session: The transport; `nil` for the queue's.
    /// - Returns: The value.
    /// - Throws: The failure of the request.
    package func runUntilReply<R: NetworkRequest, Value: Sendable>(
        _ request: R,
        to reply: OneShot<Result<Value, RequestError>>,
        _ session: (any HTTPTransport)?
    ) async throws(RequestError) -> Value where R.Failure == RequestError {
        var operation: AnyRequestOperation? = makeOperation(for: request, session)
        let cancel: @Sendable () -> Void = { [weak operation] in operation?.cancel() }
        let failed: OperationCore.Completion = .call { result in
            guard case .failure(let error) = RequestOperation<R>.unboxed(result) else { return }
            reply.fill(.failure(error))
        }
        add(&operation, failed)
        return try await withTaskCancellationHandler {
            await reply.value()
        } onCancel: {
            cancel()
        }.get()
    }
}

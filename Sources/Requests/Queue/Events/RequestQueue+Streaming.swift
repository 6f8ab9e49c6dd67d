// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request on this queue, and returns its content as a stream while it arrives.
    ///
    /// ```swift
    /// let stream = try await client.stream(HTTPRequest("https://example.com/log"))
    /// for try await chunk in stream { … }
    /// ```
    ///
    /// The operation occupies its slot in the queue until the stream is consumed to its end or deallocated.
    /// Deallocating the stream cancels the transfer, and so does cancelling the task while it waits for the response
    /// head.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - bufferSize: The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    /// - Returns: The stream of an accepted response, as soon as its head has arrived.
    /// - Throws: The failure of the request. For a status that isn't accepted, the error contains the content.
    public func stream<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        bufferSize: Int = 256 * 1024
    ) async throws(RequestError) -> ResponseStream {
        var streamed = StreamedRequest<R, ResponseStream>(request: request)
        streamed.bufferSize = bufferSize
        return try await runUntilReply(streamed, to: streamed.stream, session)
    }

    /// Runs a request until it provides a value that outlives this call, such as an open stream, and returns the value.
    ///
    /// - Parameters:
    ///   - request: The request; its operation finishes when the caller no longer needs the value.
    ///   - reply: The reply that the request fills with the value.
    ///   - session: The transport; `nil` uses the queue's.
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

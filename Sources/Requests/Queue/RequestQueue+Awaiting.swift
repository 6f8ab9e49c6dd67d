// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestQueue {
    /// Runs a request on this queue, and waits for its value.
    ///
    /// ```swift
    /// let recipe = try await queue.fetch(RecipeRequest(recipeID: "1"))
    /// ```
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it; nil, the default, is the queue's transport.
    /// - Returns: What came of the request.
    /// - Throws: The failure of the request; a cancelled one's has the code `cancelled`.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> R.Success {
        try await value(of: makeOperation(for: request, session: session))
    }

    /// Runs a request on this queue, and waits for its value together with the response that it was made of.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it; nil, the default, is the queue's transport.
    /// - Returns: The response, with what came of the request as its body.
    /// - Throws: The failure of the request; a cancelled one's has the code `cancelled`.
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> HTTPResponse<R.Success> {
        let operation = makeOperation(for: request, session: session)
        let value = try await value(of: operation)
        guard let head = operation.response else {
            let reason = "the operation finished with a value that no response was needed for"
            throw operation.mapError(RequestError(.badResponse, phase: .validating, reason: reason))
        }
        return HTTPResponse(head: head, body: value, attempts: operation.attempts)
    }

    private func value<R: NetworkRequest>(of operation: NetworkOperation<R>) async throws(R.Failure) -> R.Success {
        place(operation)
        let result = await withTaskCancellationHandler {
            await operation.outcome()
        } onCancel: {
            operation.cancel()
        }
        return try result.get()
    }
}

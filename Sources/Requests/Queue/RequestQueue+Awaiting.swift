// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
        try await run(request, over: session).outcome.get()
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
        let (outcome, record) = await run(request, over: session)
        let value = try outcome.get()
        guard let head = record.head else {
            let reason = "the operation finished with a value, and without a response"
            throw request.mapError(RequestError(.badResponse, phase: .validating, reason: reason))
        }
        return HTTPResponse(head: head, body: value, attempts: record.attempts)
    }

    /// Runs a request, and waits for its end.
    private func run<R: NetworkRequest>(
        _ request: R,
        over session: (any HTTPTransport)?
    ) async -> (outcome: Result<R.Success, R.Failure>, record: CallRecord) {
        let reference = OperationReference()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(request, over: session, reference) { continuation.resume(returning: ($0, $1)) }
            }
        } onCancel: {
            reference.cancel()
        }
    }

    /// Adds a request, and keeps no reference to its operation: one that the queue doesn't run ends when the queue
    /// releases it.
    private func begin<R: NetworkRequest>(
        _ request: R,
        over session: (any HTTPTransport)?,
        _ reference: OperationReference,
        _ completion: @escaping @Sendable (Result<R.Success, R.Failure>, CallRecord) -> Void
    ) {
        let operation: NetworkOperation<R> = makeOperation(for: request, session: session)
        let call = operation.call
        operation.observe { completion($0, call.record) }
        // A task that is cancelled already adds nothing.
        guard !Task.isCancelled, reference.keep(operation) else { return operation.cancel() }
        operation.prepareTask()
        place(operation)
    }
}

/// An operation that a task waits for, and is cancelled with it.
private final class OperationReference: Sendable {
    private struct State: Sendable {
        weak var operation: Operation?
        var isCancelled = false
    }

    private let state = Locked(State())

    /// Keeps the operation, without holding on to it; false if the task is cancelled already.
    func keep(_ operation: Operation) -> Bool {
        state.withLock { state in
            state.operation = operation
            return !state.isCancelled
        }
    }

    func cancel() {
        let operation = state.withLock { state in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
    }
}

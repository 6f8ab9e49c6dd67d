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
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request; if it was cancelled, with the code `cancelled`.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> R.Success {
        try RequestOperation<R>.unboxed(await run { makeOperation(for: request, session: session) }).get()
    }

    /// Runs a request on this queue, reports its progress, and waits for its value.
    ///
    /// ```swift
    /// let film = try await client.fetch(request) { bar.value = $0.fraction ?? 0 }
    /// ```
    ///
    /// The closure is called in the caller's isolation, on the main actor for example, one call after the other, and
    /// never after this returns. The last progress of a request that succeeds is exact. Cancelling the task cancels the
    /// operation.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - direction: The bytes to report: by default the received ones.
    ///   - progress: Receives each progress. A slow closure may skip values, never the last one.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request; if it was cancelled, with the code `cancelled`.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        progressOf direction: TransferDirection = .download,
        progress: (TransferProgress) -> Void
    ) async throws(R.Failure) -> R.Success {
        let promise = Promise<Result<R.Success, R.Failure>>()
        let reference = OperationReference()
        // Not in a closure, which wouldn't run in the caller's isolation. A cancellation of the task ends the loop.
        for await news in begin(request, session, direction, promise, reference) { progress(news) }
        let outcome = await withTaskCancellationHandler {
            await promise.take()
        } onCancel: {
            reference.cancel()
        }
        return try outcome.get()
    }

    /// Adds the operation of a request, without retaining it.
    private func begin<R: NetworkRequest>(
        _ request: R,
        _ session: (any HTTPTransport)?,
        _ direction: TransferDirection,
        _ promise: Promise<Result<R.Success, R.Failure>>,
        _ reference: OperationReference
    ) -> AsyncStream<TransferProgress> {
        let operation: NetworkOperation<R> = makeOperation(for: request, session: session)
        operation.observe { promise.keep($0) }
        let news = operation.progressUpdates(direction)
        // A task that is already cancelled adds nothing.
        guard !Task.isCancelled, reference.keep(operation) else {
            operation.cancel()
            return news
        }
        operation.prepareTask()
        place(operation)
        return news
    }

    /// Runs a request on this queue, and waits for its value together with the response.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    /// - Returns: The response, with the value of the request as its body.
    /// - Throws: The failure of the request; if it was cancelled, with the code `cancelled`.
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> HTTPResponse<R.Success> {
        try await exchange(request, session: session).response.get()
    }

    /// Runs a request, or a later page of it, and waits for its value together with the response.
    ///
    /// - Returns: The response or the failure, and the address of the first attempt.
    func exchange<R: NetworkRequest>(
        _ request: R,
        page: PageTarget? = nil,
        session: (any HTTPTransport)?
    ) async -> (response: Result<HTTPResponse<R.Success>, R.Failure>, asked: URL?) {
        var call: Call?
        let result = await run {
            let operation: NetworkOperation<R> = makeOperation(for: request, page: page, session)
            call = operation.call
            return operation
        }
        let record = call?.record
        return (RequestOperation<R>.unboxed(result).response(to: request, record), record?.asked)
    }

    /// Finds out if a host can be reached, with a request of its own: `HEAD`, without retries, cookies and credentials.
    ///
    /// The conditions, interceptors and validators of the environment aren't applied.
    ///
    /// Any answer counts, whatever its status. The host may be unreachable a moment later: to send something, send it,
    /// and check the error.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - limit: The maximum time; 5 seconds by default.
    ///   - session: The transport; `nil`, the default, is the queue's.
    /// - Returns: Whether there was an answer; `false` also if the task is cancelled.
    public func canReach(
        _ url: URL,
        within limit: Duration = .seconds(5),
        session: (any HTTPTransport)? = nil
    ) async -> Bool {
        var probe = ReachabilityProbe(url: url)
        probe.options.deadline = limit
        do {
            try await fetch(probe, session: session)
            return true
        } catch {
            // A refused response is a response; that of a proxy says nothing about the host.
            return error.response != nil && error.code != .proxyRefused
        }
    }

    /// Runs an operation, and waits for its end, without retaining it: one that the queue doesn't run ends when the
    /// queue releases it.
    private func run(_ makeOperation: () -> any TaskOperation) async -> OperationState.AnyResult {
        let reference = OperationReference()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let operation = makeOperation()
                operation.resume(continuation)
                // A task that is already cancelled adds nothing.
                guard !Task.isCancelled, reference.keep(operation) else { return operation.cancel() }
                operation.prepareTask()
                place(operation)
            }
        } onCancel: {
            reference.cancel()
        }
    }
}

extension Result {
    /// The value together with the head of its response.
    func response<R: NetworkRequest>(
        to request: R,
        _ record: CallRecord?
    ) -> Result<HTTPResponse<Success>, Failure> where R.Success == Success, R.Failure == Failure {
        flatMap { value in
            guard let record, let head = record.head else {
                let reason = "the operation finished with a value, and without a response"
                return .failure(request.mapError(RequestError(.badResponse, phase: .validating, reason: reason)))
            }
            return .success(HTTPResponse(head: head, body: value, history: record.history))
        }
    }
}

/// An operation that a task waits for, and that is cancelled with the task.
private struct OperationReference: Sendable {
    private struct State: Sendable {
        weak var operation: Operation?
        var isCancelled = false
    }

    private let state = Locked(State())

    /// Stores the operation, without retaining it; `false` if the task is already cancelled.
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

/// A request that checks if a host can be reached.
private struct ReachabilityProbe: DataRequest {
    typealias Success = Void
    typealias Failure = RequestError

    let url: URL
    var options: RequestOptions

    init(url: URL) {
        self.url = url
        options = RequestOptions()
        options.retry = .never
        options.redirect = .refuse
        options.usesCookies = false
        options.isUnauthenticated = true
        options.validatesStatus = false
        // They may require a credential, which the probe doesn't have, or send it again.
        options.isProbe = true
    }

    var identifier: String { url.absoluteString }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        var request = URLRequest(url: url)
        request.httpMethod = "HEAD"
        // An answer from a cache, or a policy that forbids to send, would say nothing about the host.
        request.cachePolicy = .reloadIgnoringLocalCacheData
        completion(.success(request))
    }

    func processData(_ data: Data) throws {}
}

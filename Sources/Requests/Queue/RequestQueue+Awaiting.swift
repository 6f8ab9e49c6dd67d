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
        try await run { makeOperation(for: request, session: session) }.get()
    }

    /// Runs a request on this queue, reports its progress, and waits for its value.
    ///
    /// ```swift
    /// let film = try await client.fetch(request) { bar.value = $0.fraction ?? 0 }
    /// ```
    ///
    /// The closure is called where the caller runs, on the main actor for example, one call after the other, and never
    /// after this returns. The last progress of a request that succeeds is exact. Cancelling the task cancels the
    /// operation.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it; `nil`, the default, is the queue's transport.
    ///   - direction: Which bytes are reported: by default those that are received.
    ///   - progress: Takes each progress. A slow one may skip values, never the last one.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request; a cancelled one's has the code `cancelled`.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        progressOf direction: TransferDirection = .download,
        progress: (TransferProgress) -> Void
    ) async throws(R.Failure) -> R.Success {
        let promise = Promise<Result<R.Success, R.Failure>>()
        let reference = OperationReference()
        // Not in a closure, which would run elsewhere than the caller. A cancel of the task ends the loop.
        for await news in begin(request, session, direction, promise, reference) { progress(news) }
        let outcome = await withTaskCancellationHandler {
            await promise.take()
        } onCancel: {
            reference.cancel()
        }
        return try outcome.get()
    }

    /// Adds the operation of a request, and doesn't hold on to it.
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
        // A task that is cancelled already adds nothing.
        guard !Task.isCancelled, reference.keep(operation) else {
            operation.cancel()
            return news
        }
        operation.prepareTask()
        place(operation)
        return news
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
        try await exchange(request, session: session).response.get()
    }

    /// Runs a request, or a later page of it, and waits for its value together with the response that it was made of.
    ///
    /// - Returns: The response or the failure, and the address that was asked first.
    func exchange<R: NetworkRequest>(
        _ request: R,
        page: PageTarget? = nil,
        session: (any HTTPTransport)?
    ) async -> (response: Result<HTTPResponse<R.Success>, R.Failure>, asked: URL?) {
        var call: Call?
        let outcome: Result<R.Success, R.Failure> = await run {
            let operation: NetworkOperation<R> = makeOperation(for: request, page: page, session)
            call = operation.call
            return operation
        }
        let record = call?.record
        return (outcome.response(to: request, record), record?.asked)
    }

    /// Finds out whether a host can be reached, by a request of its own: `HEAD`, without retries, cookies and credentials.
    ///
    /// Any answer is one, whatever its status. That a host could be reached doesn't say that it can be a moment later: to
    /// send something, send it, and look at the error.
    ///
    /// - Parameters:
    ///   - url: Where to.
    ///   - limit: How long to try; 5 seconds by default.
    ///   - session: What carries the request; nil, the default, is the queue's transport.
    /// - Returns: Whether an answer came; false too where the task is cancelled.
    public func canReach(
        _ url: URL,
        within limit: Duration = .seconds(5),
        session: (any HTTPTransport)? = nil
    ) async -> Bool {
        var probe = ReachabilityProbe(url: url)
        probe.options.deadline = limit
        // They may want a credential, which the probe has not, or send it again.
        probe.options.bypassedInterceptors = environment.interceptors.map { type(of: $0) }
        do {
            try await fetch(probe, session: session)
            return true
        } catch {
            // What a validator or an interceptor makes of an answer, it is one; that of a proxy says nothing of the host.
            return error.response != nil && error.code != .proxyRefused
        }
    }

    /// Runs an operation, and waits for its end, without holding on to it: one that the queue doesn't run ends when the
    /// queue releases it.
    private func run<R: NetworkRequest>(
        _ makeOperation: () -> NetworkOperation<R>
    ) async -> Result<R.Success, R.Failure> {
        let reference = OperationReference()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let operation = makeOperation()
                operation.resume(continuation)
                // A task that is cancelled already adds nothing.
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
    /// The value together with the head of the response that it was made of.
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

/// An operation that a task waits for, and is cancelled with it.
private struct OperationReference: Sendable {
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

/// A request that asks whether a host is there.
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
    }

    var identifier: String { url.absoluteString }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        var request = URLRequest(url: url)
        request.httpMethod = "HEAD"
        completion(.success(request))
    }

    func processData(_ data: Data) throws {}
}

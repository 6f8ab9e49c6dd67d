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
        let result = await run { makeOperation(for: request, session) }
        return try RequestOperation<R>.unboxed(result).get()
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
        progressOf direction: TransferProgress.Direction = .download,
        progress: (TransferProgress) -> Void
    ) async throws(R.Failure) -> R.Success {
        var operation: R.OperationType? = makeOperation(for: request, session)
        let outcome = OneShot<OperationCore.AnyResult>()
        // Without retaining it: one that the queue doesn't run ends when the queue releases it.
        let cancel: @Sendable () -> Void = { [weak operation] in operation?.cancel() }
        let news = operation?.progressUpdates(direction)
        add(&operation, .call { outcome.fill($0) })
        // Not in a closure, which wouldn't run in the caller's isolation. A cancellation of the task ends the loop.
        if let news { for await value in news { progress(value) } }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            cancel()
        }
        return try RequestOperation<R>.unboxed(result).get()
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

    /// Runs a request, and waits for its value together with the response.
    ///
    /// - Returns: The response or the failure, and the address of the first transfer.
    func exchange<R: NetworkRequest>(
        _ request: R,
        in environment: RequestEnvironment? = nil,
        session: (any HTTPTransport)?
    ) async -> (response: Result<HTTPResponse<R.Success>, R.Failure>, asked: URL?) {
        var core: Locked<OperationCore>?
        var makeDecoder: (@Sendable () -> JSONDecoder)?
        let result = await run {
            let operation = makeOperation(for: request, in: environment, session)
            core = operation.core
            makeDecoder = operation.configuration.environment.customMakeDecoder
            return operation
        }
        let record = core?.withLock { $0.run.record }
        let response = RequestOperation<R>.unboxed(result).response(record, makeDecoder, request.mapError)
        return (response, record?.firstURL)
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
        timeout limit: Duration = .seconds(5),
        session: (any HTTPTransport)? = nil
    ) async -> Bool {
        var probe = HTTPRequest(url: url, method: .head).options {
            ($0.deadline, $0.retry, $0.redirect, $0.validatesStatus) = (limit, .never, .refuse, false)
            ($0.usesCookies, $0.isUnauthenticated) = (false, true)
        }
        // An answer from a cache, or a policy that forbids to send, would say nothing about the host.
        probe.cachePolicy = .reloadIgnoringLocalCacheData
        // These may require a credential, which the probe doesn't have, or send it again.
        var bare = environment
        (bare.conditions, bare.interceptors, bare.validators) = ([], [], [])
        switch await exchange(probe, in: bare, session: session).response {
        case .success: return true
        // A refused response is a response; that of a proxy says nothing about the host.
        case .failure(let error): return error.response != nil && error.code != .proxyRefused
        }
    }

    /// Runs an operation, and waits for its result.
    private func run(_ makeOperation: () -> AnyRequestOperation) async -> OperationCore.AnyResult {
        var operation: AnyRequestOperation? = makeOperation()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                add(&operation, .resume(waiter))
            }
        } onCancel: { [operation = Weak(operation)] in
            operation.object?.cancel()
        }
    }

    /// Adds an operation that the current task waits for, and releases it: one that the queue doesn't run ends when the
    /// queue releases it.
    ///
    /// A task that is already cancelled adds nothing.
    func add(_ reference: inout (some AnyRequestOperation)?, _ completion: OperationCore.Completion) {
        guard let operation = reference.take() else { return }
        guard !Task.isCancelled else {
            operation.addResultHandler(completion)
            return operation.cancel()
        }
        operation.prepareTask(completion)
        admit(operation)
    }
}

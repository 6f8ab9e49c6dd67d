// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request on this queue, and returns its value.
    ///
    /// ```swift
    /// let recipe = try await queue.fetch(RecipeRequest(recipeID: "1"))
    /// ```
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request; its code is `cancelled` if the request was cancelled.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> R.Success {
        let result = await run { makeOperation(for: request, session) }
        return try RequestOperation<R>.unboxed(result).get()
    }

    /// Runs a request on this queue, reports its progress, and returns its value.
    ///
    /// ```swift
    /// let film = try await client.fetch(request) { bar.value = $0.fraction ?? 0 }
    /// ```
    ///
    /// The closure runs in the caller's isolation, such as the main actor. Its calls never overlap, and none occurs
    /// after this method has returned. The last progress of a successful request is exact. Cancelling the task cancels
    /// the operation.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - direction: The direction to report; by default, the download.
    ///   - progress: Receives each progress value. A slow closure may miss values, but never the last one.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request; its code is `cancelled` if the request was cancelled.
    public func fetch<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        progressOf direction: TransferProgress.Direction = .download,
        progress: (TransferProgress) -> Void
    ) async throws(R.Failure) -> R.Success {
        var operation: R.OperationType? = makeOperation(for: request, session)
        let outcome = OneShot<OperationCore.AnyResult>()
        // The closure must not retain the operation. If the queue releases the operation without running it, the
        // operation's `deinit` calls the completion.
        let cancel: @Sendable () -> Void = { [weak operation] in operation?.cancel() }
        let updates = operation?.progressUpdates(direction)
        add(&operation, .call { outcome.fill($0) })
        // The loop runs here, because a closure wouldn't run in the caller's isolation. Cancelling the task ends the
        // loop.
        if let updates { for await value in updates { progress(value) } }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            cancel()
        }
        return try RequestOperation<R>.unboxed(result).get()
    }

    /// Runs a request on this queue, and returns its value with the response.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    /// - Returns: The response, with the value of the request as its body.
    /// - Throws: The failure of the request; its code is `cancelled` if the request was cancelled.
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil
    ) async throws(R.Failure) -> HTTPResponse<R.Success> {
        try await exchange(request, session: session).response.get()
    }

    /// Runs a request, and returns its value with the response.
    ///
    /// - Returns: The response or the failure, and the URL of the first transfer.
    func exchange<R: NetworkRequest>(
        _ request: R,
        in environment: RequestEnvironment? = nil,
        session: (any HTTPTransport)?
    ) async -> (response: Result<HTTPResponse<R.Success>, R.Failure>, firstURL: URL?) {
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

    /// Checks whether a host can be reached, by sending a `HEAD` request without retries, cookies or credentials.
    ///
    /// The conditions, interceptors and validators of the environment aren't applied.
    ///
    /// Any response counts, whatever its status. The host may become unreachable a moment later, so don't check before
    /// you send a request; send it and handle the error.
    ///
    /// - Parameters:
    ///   - url: The URL to probe.
    ///   - limit: The maximum time; 5 seconds by default.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    /// - Returns: Whether there was a response; `false` if the task is cancelled.
    public func canReach(
        _ url: URL,
        timeout limit: Duration = .seconds(5),
        session: (any HTTPTransport)? = nil
    ) async -> Bool {
        var probe = HTTPRequest(url: url, method: .head).options {
            ($0.deadline, $0.retry, $0.redirect, $0.validatesStatus) = (limit, .never, .refuse, false)
            ($0.usesCookies, $0.isUnauthenticated) = (false, true)
        }
        // A cached response, or a policy that forbids sending, would prove nothing about the host.
        probe.cachePolicy = .reloadIgnoringLocalCacheData
        // Interceptors, conditions and validators may require a credential, which the probe doesn't have, or retry the
        // probe.
        var bare = environment
        (bare.conditions, bare.interceptors, bare.validators) = ([], [], [])
        switch await exchange(probe, in: bare, session: session).response {
        case .success: return true
        // Even a rejected response proves that the host is reachable, but a proxy's response doesn't.
        case .failure(let error): return error.response != nil && error.code != .proxyRefused
        }
    }

    /// Runs an operation, and returns its result.
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

    /// Adds an operation that the current task waits for, and releases the caller's reference to it.
    ///
    /// If the queue releases the operation without running it, the operation's `deinit` calls the completion, so the
    /// waiting task must not retain the operation. If the task is already cancelled, the operation is cancelled instead
    /// of added.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``NetworkRequest``, which builds the request, sends it, and creates the value from its response.
///
/// All requests take the same path; completions, dependencies and `await` are three interfaces to it. Queues create
/// instances of its subclasses. To process responses differently, subclass ``DataOperation`` or one of its subclasses,
/// override ``process(_:)``, and specify the subclass as the request's `OperationType`.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds nothing.
open class NetworkOperation<R: NetworkRequest>: RequestOperation<R>, @unchecked Sendable {
    /// Creates an operation.
    ///
    /// A deadline begins with this call.
    public required init(_ configuration: OperationConfiguration<R>) {
        let (request, environment) = (configuration.source.value, configuration.environment)
        let scope = NestingContext.current
        let resolved = RunConfiguration.of(
            request?.resolvedOptions ?? RequestOptions(),
            request?.validStatusCodes ?? successfulStatusCodes,
            in: environment,
            configuration.kind.content,
            scope: scope
        )
        super.init(
            source: configuration.source,
            resolved,
            over: configuration.transport,
            scope: scope,
            configuration.kind
        )
        EventEmitter.attach(to: self, environment.monitors.followed(by: resolved.options.monitors)) {
            var info = OperationEvent.Info(requestType: R.shownTypeName)
            if let request { info.identify(by: { request.identifier }, resolved.options) }
            return info
        }
    }

    /// The transport of the request.
    public final var transport: any HTTPTransport { ownTransport ?? DefaultTransport.shared }
    /// The settings that the operation inherits.
    public final var environment: RequestEnvironment { configuration.environment }

    /// The identifier of the request; `nil` if the request depends on another operation's result and isn't created yet.
    public final override var identifier: String? { request?.identifier }

    // MARK: For subclasses

    /// Creates the value from an accepted response.
    ///
    /// Called on a thread that is allowed to block.
    ///
    /// - Throws: The failure of the operation.
    open func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        let reason = "\(type(of: self)) must override `process(_:)`"
        throw RequestError(.unsupported, phase: .decoding, reason: reason)
    }

    /// Ends the operation with a response, unless it already has a result.
    ///
    /// Use this method in replacement queues for tests: `fetch` then returns the body, and `send` the entire response.
    ///
    /// - Returns: Whether the response was accepted.
    @discardableResult
    public final func finish(with response: HTTPResponse<R.Success>) -> Bool {
        // Record the response before the result can be observed, but only if it becomes the result.
        guard transition(.complete) == .deliver else { return false }
        let head = response.head
        record { $0.recordValidated(head) }
        deliver(Box(Outcome.success(response.body)))
        return true
    }

    /// Does nothing, because the engine begins the run of a request itself, before this method would be called.
    public final override func execute() {}

    final func resolve() throws -> RunConfiguration? {
        guard let request = try resolveRequest() else {
            let reason = "this request source has already been used by another operation"
            throw RequestError(.invalidRequest, phase: .building, reason: reason)
        }
        let (options, statuses) = (request.resolvedOptions, request.validStatusCodes)
        let resolved = configuration.resolved(options, statuses, kind.content, scope: scope)
        core.withLock { $0.run.configuration = resolved }
        observer(EventEmitter.self)?.identify(by: { request.identifier }, options)
        for monitor in options.monitors { addMonitor(monitor) }
        // Only a deadline of the request begins here. The environment's deadline has been running since the operation
        // was created.
        if let deadline = options.deadline { setDeadline(deadline) }
        return core.withLock { $0.result == nil } ? resolved : nil
    }

    /// Finishes with the value that a consumer creates from an open stream or connection, or with the consumer's error.
    final func finish(by use: () async throws -> R.Success) async {
        do {
            finish(with: .success(try await use()))
        } catch let error as RequestError where error.code == .cancelled {
            // Only a task of the consumer was cancelled. If this operation had been cancelled, it would already have
            // its result.
            fail(RunFailure(error.underlying ?? error, in: .receiving))
        } catch {
            fail(RunFailure(error, in: .receiving))
        }
    }

    /// Cancels the operation, and passes a resume token to the completion if the operation is a download.
    ///
    /// The token is `nil` for every other kind of request, and if there is nothing to resume.
    ///
    /// - Parameter completion: Called once, on an unspecified thread, when the operation has its result. The transfer
    ///   may still be ending.
    open func cancel(producingResumeToken completion: @escaping @Sendable (Download.ResumeToken?) -> Void) {
        cancel()
        completion(nil)
    }

    /// Finishes with a failure, and adds all known details of the request and the response.
    final func fail(_ failure: RunFailure) {
        // Details are added only if the failure becomes the result, because the operation may already have another
        // result.
        complete {
            let error = recordFailure(failure)
            // Leave errors that the request has thrown itself unchanged, because its `mapError` expects them.
            let isCallerError = failure.isCallerError && R.Failure.self != RequestError.self
            return Box(Outcome.failure(mapError(isCallerError ? failure.error : error)))
        }
    }
}

/// The response handling that passes the content, collected in memory, to ``NetworkOperation/process(_:)``.
struct MemoryHandling<Request: NetworkRequest>: NetworkHandling {
    let operation: NetworkOperation<Request>

    func conclude(_ response: RawResponse, of request: HTTPRequest) async throws(RunFailure) {
        let response = response.map { $0.data ?? Data() }
        if let queue = operation.environment.decodingQueue { return try await conclude(response, on: queue) }
        try conclude(response) { try operation.process(response) }
    }

    @inline(never)
    private func conclude(_ response: HTTPResponse<Data>, on queue: DispatchQueue) async throws(RunFailure) {
        let value = await withUnsafeContinuation { decoded in
            queue.async { decoded.resume(returning: Result { try operation.process(response) }) }
        }
        try conclude(response) { try value.get() }
    }

    private func conclude(
        _ response: HTTPResponse<Data>,
        _ process: () throws -> Request.Success
    ) throws(RunFailure) {
        do {
            operation.finish(with: .success(try process()))
        } catch let error as DecodingError {
            let reason = "can't decode \(Request.Success.self)"
            let error = RequestError(.decoding, phase: .decoding, reason: reason, underlying: error)
            throw RunFailure(error, in: .decoding, response: response)
        } catch {
            throw RunFailure(error, in: .decoding, response: response)
        }
    }
}

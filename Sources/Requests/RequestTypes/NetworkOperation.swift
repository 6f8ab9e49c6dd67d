// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``NetworkRequest``: it makes the request, runs it, and makes the value of its response.
///
/// All requests take the same path; completions, dependencies and `await` are three interfaces to it. Queues make the
/// subclasses of this class. To process responses differently, subclass ``DataOperation`` or one of its subclasses,
/// override ``process(_:)``, and name the subclass as the request's `OperationType`.
// Sendable: Operation requires restating it; nothing is added here.
open class NetworkOperation<R: NetworkRequest>: RequestOperation<R>, @unchecked Sendable {
    /// Creates an operation.
    ///
    /// The deadline, if there is one, counts from here.
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

    /// The identifier of the request; `nil` until it has been made from the result of another operation.
    public final override var identifier: String? { request?.identifier }

    // MARK: For subclasses

    /// Makes the value of an acceptable response.
    ///
    /// Called on a thread that may be blocked.
    ///
    /// - Throws: The failure of the operation.
    open func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        let reason = "\(type(of: self)) doesn't say what to make of a response"
        throw RequestError(.unsupported, phase: .decoding, reason: reason)
    }

    /// Ends the operation with a response, unless it has a result.
    ///
    /// It is meant for queues that replace real ones: `fetch` returns the body, and `send` the whole response.
    ///
    /// - Returns: Whether the response was accepted.
    @discardableResult
    public final func finish(with response: HTTPResponse<R.Success>) -> Bool {
        // Before the result can be observed; a refused response changes nothing.
        guard transition(.complete) == .deliver else { return false }
        let head = response.head
        record { $0.recordValidated(head) }
        deliver(Box(Outcome.success(response.body)))
        return true
    }

    /// Does nothing: the engine begins the run of a request itself, before this would be called.
    public final override func execute() {}

    final func resolve() throws -> RunConfiguration? {
        guard let request = try resolveRequest() else {
            let reason = "another operation has the request of its source"
            throw RequestError(.invalidRequest, phase: .building, reason: reason)
        }
        let (options, statuses) = (request.resolvedOptions, request.validStatusCodes)
        let resolved = configuration.resolved(options, statuses, kind.content, scope: scope)
        core.withLock { $0.run.configuration = resolved }
        observer(EventEmitter.self)?.identify(by: { request.identifier }, options)
        for monitor in options.monitors { addMonitor(monitor) }
        // The deadline of the environment counts from the operation's creation, and is already running.
        if let deadline = options.deadline { setDeadline(deadline) }
        return core.withLock { $0.result == nil } ? resolved : nil
    }

    /// Finishes with the value that a consumer makes from an open stream or connection, or with the consumer's error.
    final func finish(by use: () async throws -> R.Success) async {
        do {
            finish(with: .success(try await use()))
        } catch let error as RequestError where error.code == .cancelled {
            // A task of the consumer was cancelled, not this operation, which would already have its result.
            fail(RunFailure(error.underlying ?? error, in: .receiving))
        } catch {
            fail(RunFailure(error, in: .receiving))
        }
    }

    /// Cancels the operation, and passes on a resume token for a download.
    ///
    /// It is `nil` for every other kind of request, and if there is nothing to resume.
    ///
    /// - Parameter completion: Called once, on no particular thread, when the operation has its result. Its transfer
    ///   may still be ending.
    open func cancel(producingResumeToken completion: @escaping @Sendable (Download.ResumeToken?) -> Void) {
        cancel()
        completion(nil)
    }

    /// Finishes with a failure, completed with all that is known about the request and the response.
    final func fail(_ failure: RunFailure) {
        // The failure is completed only if it becomes the result, which may already be another one.
        complete {
            let error = recordFailure(failure)
            // The request's own errors stay unchanged, for its `mapError`.
            let isOwn = failure.isOwn && R.Failure.self != RequestError.self
            return Box(Outcome.failure(mapError(isOwn ? failure.error : error)))
        }
    }
}

/// Passes the content, which was collected in memory, to ``NetworkOperation/process(_:)``.
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
            let reason = "the value is of type \(Request.Success.self)"
            let error = RequestError(.decoding, phase: .decoding, reason: reason, underlying: error)
            throw RunFailure(error, in: .decoding, response: response)
        } catch {
            throw RunFailure(error, in: .decoding, response: response)
        }
    }
}

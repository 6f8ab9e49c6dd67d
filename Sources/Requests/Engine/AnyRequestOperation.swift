// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of any request: for lists of running requests of several types.
///
/// ```swift
/// for operation in client.requestOperations {
///     print(operation.identifier ?? "", operation.progress.fractionCompleted)
/// }
/// ```
///
/// ``RequestQueue/requestOperations`` gives those of a queue. Cast one to its own type for its request and its result.
/// A group of requests, and an operation of your own that sends nothing, have none of the values here.
///
/// Only the library's own classes inherit from it directly; yours inherit from one of these.
// Sendable: Operation requires restating it; the only additions here are constants.
open class AnyRequestOperation: AsynchronousOperation, @unchecked Sendable {
    /// The transport of the request; `nil` for an operation that sends nothing.
    final let ownTransport: (any HTTPTransport)?
    /// The work for which the request is sent, if any.
    final let scope: NestingContext?
    /// How its request is built, and what happens to the response.
    final let kind: any ResponseHandling.Type
    /// The configuration of a known request, or the environment's for one that is created at the start.
    private let initialConfiguration: RunConfiguration
    /// Whether the request is created when the operation starts.
    final let isDeferred: Bool

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the run; that of the environment for a deferred request.
    ///   - transport: The transport; `nil` for an operation that sends nothing.
    ///   - scope: The work for which the request is sent, if any.
    ///   - kind: How the request is built, and what happens to the response.
    ///   - isDeferred: Whether the request is created when the operation starts.
    init(
        _ configuration: RunConfiguration,
        over transport: (any HTTPTransport)?,
        scope: NestingContext?,
        _ kind: any ResponseHandling.Type,
        isDeferred: Bool = false
    ) {
        (initialConfiguration, ownTransport, self.scope) = (configuration, transport, scope)
        (self.kind, self.isDeferred) = (kind, isDeferred)
        super.init()
        if let deadline = configuration.deadline { setDeadline(deadline) }
    }

    // MARK: What is known

    /// The identifier of the request; `nil` until it has been made from the result of another operation.
    public var identifier: String? { nil }

    /// The name of the request for display, if it has one.
    public final var tag: String? { configuration.options.tag }

    /// The request that was sent last, or answered by a cache; `nil` before one was made.
    public final var urlRequest: URLRequest? { record.request.map(URLRequest.init) }

    /// The head of the last response; `nil` before the first one.
    public final var response: HTTPResponseHead? { record.head }

    /// The transfers so far: the first one, redirects and retries, in their order.
    ///
    /// Of more than 100, it has the first one, the last 99, and those that are running.
    public final var transfers: [TransferRecord] { record.transferRecords }

    /// The metrics of the last transfer, if known; those of earlier ones are in the ``transfers``.
    public final var metrics: TransferRecord.Metrics? { transfers.last?.metrics }

    /// The settings of the run; before a deferred request is created, those of the environment.
    final var configuration: RunConfiguration {
        guard isDeferred else { return initialConfiguration }
        return core.withLock { $0.run.configuration } ?? initialConfiguration
    }

    /// The facts about the run so far, for its response and its errors.
    final var record: RunRecord { core.withLock { $0.run.record } }

    /// Changes the record, and releases the replaced values outside of the lock.
    final func record(_ change: @Sendable (inout RunRecord) -> Void) {
        let previous = core.withLock { core in
            let previous = core.run.record
            change(&core.run.record)
            return previous
        }
        withExtendedLifetime(previous) {}
    }

    /// The failure, before the request converted it to its own type.
    final var failure: RequestError? { core.withLock { $0.run.failure } }

    /// The interceptor that has thrown the last error of its own; `nil` if that was caught.
    final var throwingInterceptor: String? {
        get { core.withLock { $0.run.throwingInterceptor } }
        set { core.withLock { $0.run.throwingInterceptor = newValue } }
    }

    /// The values that interceptors have stored for the run.
    final var notes: InterceptorNotes {
        core.withLock { core in
            let notes = core.run.notes ?? InterceptorNotes()
            core.run.notes = notes
            return notes
        }
    }

    // MARK: Pausing

    /// Pauses the transfer until ``resume()``, if the transport can; also before the operation starts.
    ///
    /// Transports without ``TransportCapabilities/pausing`` continue. The deadline isn't extended.
    public final func pause() { setPaused(true) }

    /// Resumes the transfer.
    public final func resume() { setPaused(false) }

    final func setPaused(_ isPaused: Bool) {
        core.withLock { $0.run.isPaused = isPaused }
        for transfer in record.transfers { applyPause(to: transfer) }
    }

    /// Pauses or resumes a transfer, and again if the value has changed in the meantime.
    final func applyPause(to transfer: Transfer) {
        var passed: Bool?
        func next(_ core: inout OperationCore) -> Bool? { core.run.isPaused == passed ? nil : core.run.isPaused }
        core.drain(
            next: next,
            completed: { _ in },
            perform: { isPaused in
                transfer.flow.set(.user, isPaused)
                passed = isPaused
            }
        )
    }

    final override func outcome(of result: OperationCore.AnyResult?) -> OperationEvent.Outcome {
        guard let result else { return .cancelled }
        return type(of: self).failure(in: result).map { OperationEvent.Outcome(failure ?? $0) } ?? .success
    }

    // MARK: What depends on the request

    /// Changes the request before it is checked and sent; by default it does nothing.
    ///
    /// - Throws: An error that keeps the request from being sent.
    open func prepare(_ request: inout HTTPRequest) throws {}

    /// Creates the identifier of the request; `nil` until there is a request.
    var makeIdentifier: (@Sendable () -> String)? { nil }

    /// The failure in a result of this class; `nil` for a success.
    class func failure(in result: OperationCore.AnyResult) -> (any Error)? { nil }

    /// The priority of the request: its own, or the highest of those that share its transfer.
    final var urgency: Int { handling.urgency }

    final override func startAnnounced() {
        if kind.sendsRequest { beginRun() } else { super.startAnnounced() }
    }

    final override func willDeliver(_ result: OperationCore.AnyResult?) { handling.willDeliver(result) }

    final override func didDeliver() { handling.didDeliver() }
}

extension AnyRequestOperation {
    /// The phase of the operation, for the errors of an end that comes from outside.
    final var phase: RequestError.Phase {
        let record = record
        guard record.request != nil else { return isExecuting ? .building : .waiting }
        guard let head = record.head else { return .sending }
        // Content without an end may still be read after the transfer has ended.
        let isJudged = record.last?.isOver != false && !(kind.content == .openEnded && handling.acceptsHead(head))
        return isJudged ? .validating : .receiving
    }

    /// The error of a cancelled operation, which is its failure from now on.
    final func makeCancellation() -> RequestError {
        let phase = phase
        let error = addContext(to: RequestError(.cancelled, phase: phase), in: phase)
        core.withLock { $0.run.fail(with: error) }
        return error
    }

    /// Adds the request, the response and the transfers to a failure, and records it as the operation's.
    final func recordFailure(_ failure: RunFailure) -> RequestError {
        let wrapped: RequestError
        if failure.error is CancellationError {
            // Thrown by a caller's code: this operation isn't cancelled.
            let reason = "a task was cancelled that the request needs"
            wrapped = RequestError(.other, phase: failure.phase, reason: reason, underlying: failure.error)
        } else {
            let error = RequestError(failure.error)
            wrapped = failure.isCallerError ? error.thrown(by: throwingInterceptor) : error
        }
        let error = addContext(to: wrapped, in: failure.phase, validatedResponse: failure.response)
        core.withLock { $0.run.fail(with: error) }
        return error
    }

    /// Adds the known facts to an error.
    final func addContext(
        to error: RequestError,
        in phase: RequestError.Phase,
        validatedResponse: HTTPResponse<Data>? = nil
    ) -> RequestError {
        let limit = configuration.environment.maximumErrorBodySize
        return record.addContext(to: error, in: phase, validatedResponse: validatedResponse, contentLimit: limit)
    }
}

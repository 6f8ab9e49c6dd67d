// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation for a request of any type, for example in a list of running requests.
///
/// ```swift
/// for operation in client.requestOperations {
///     print(operation.identifier ?? "", operation.progress.fractionCompleted)
/// }
/// ```
///
/// ``RequestQueue/requestOperations`` returns the operations of a queue. To access the request and the result of an
/// operation, cast it to its own type. Groups of requests and your own operations that send nothing have no values for
/// the properties of this class.
///
/// Only the library's classes inherit directly from this class; derive your own classes from one of them.
// Sendable: a subclass of `Operation` must restate the conformance; the only additions here are constants.
open class AnyRequestOperation: AsynchronousOperation, @unchecked Sendable {
    /// The transport of the request; `nil` for an operation that sends nothing.
    final let ownTransport: (any HTTPTransport)?
    /// The nested work for which the request is sent, if any.
    final let scope: NestingContext?
    /// The type that builds the request and handles its response.
    final let kind: any ResponseHandling.Type
    /// The configuration of the request, or the environment's configuration if the request is deferred.
    private let initialConfiguration: RunConfiguration
    /// Whether the request is created when the operation starts.
    final let isDeferred: Bool

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the run, or the environment's configuration if the request is deferred.
    ///   - transport: The transport; `nil` for an operation that sends nothing.
    ///   - scope: The nested work for which the request is sent, if any.
    ///   - kind: The type that builds the request and handles its response.
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

    // MARK: State of the request

    /// The identifier of the request; `nil` if the request depends on other operations' results and isn't created yet.
    public var identifier: String? { nil }

    /// The display name of the request, if it has one.
    public final var tag: String? { configuration.options.tag }

    /// The last request that was sent or answered from a cache; `nil` before the first request.
    public final var urlRequest: URLRequest? { record.request.map(URLRequest.init) }

    /// The head of the last response; `nil` before the first response.
    public final var response: HTTPResponseHead? { record.head }

    /// The transfers so far, including redirects and retries, in order.
    ///
    /// If there are more than 100, the array contains only the first transfer, the last 99, and all running transfers.
    public final var transfers: [TransferRecord] { record.transferRecords }

    /// The metrics of the last transfer, if known; the ``transfers`` contain the metrics of earlier transfers.
    public final var metrics: TransferRecord.Metrics? { transfers.last?.metrics }

    /// The settings of the run, or the environment's settings until a deferred request is created.
    final var configuration: RunConfiguration {
        guard isDeferred else { return initialConfiguration }
        return core.withLock { $0.run.configuration } ?? initialConfiguration
    }

    /// The record of the run so far, for its response and its errors.
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

    /// The failure before it was converted to the request's failure type.
    final var failure: RequestError? { core.withLock { $0.run.failure } }

    /// The type name of the interceptor that threw the current error.
    ///
    /// The value is `nil` if no interceptor threw the error, or if another interceptor has caught it.
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

    /// Pauses the transfer until ``resume()``, if the transport supports that; also valid before the operation starts.
    ///
    /// Transports without ``TransportCapabilities/pausing`` continue. Pausing doesn't extend the deadline.
    public final func pause() { setPaused(true) }

    /// Resumes the transfer.
    public final func resume() { setPaused(false) }

    final func setPaused(_ isPaused: Bool) {
        core.withLock { $0.run.isPaused = isPaused }
        for transfer in record.transfers { applyPause(to: transfer) }
    }

    /// Applies the pause state to a transfer, and repeats if another thread has changed the state.
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

    // MARK: Customization

    /// Changes the request before it is validated and sent; does nothing by default.
    ///
    /// - Throws: An error that prevents the request from being sent.
    open func prepare(_ request: inout HTTPRequest) throws {}

    /// Creates the identifier of the request; `nil` until there is a request.
    var makeIdentifier: (@Sendable () -> String)? { nil }

    /// Returns the failure in a result of this class; `nil` if the result is a success.
    class func failure(in result: OperationCore.AnyResult) -> (any Error)? { nil }

    /// The priority of the request, or the highest priority among the operations that share its transfer.
    final var urgency: Int { handling.urgency }

    final override func startAnnounced() {
        if kind.sendsRequest { beginRun() } else { super.startAnnounced() }
    }

    final override func willDeliver(_ result: OperationCore.AnyResult?) { handling.willDeliver(result) }

    final override func didDeliver() { handling.didDeliver() }
}

extension AnyRequestOperation {
    /// The current phase, for errors that don't come from the run itself, such as a cancellation or the deadline.
    final var phase: RequestError.Phase {
        let record = record
        guard record.request != nil else { return isExecuting ? .building : .waiting }
        guard let head = record.head else { return .sending }
        // An accepted open-ended response counts as being received even after its transfer has ended, because buffered
        // content may still be read.
        let isJudged = record.last?.isOver != false && !(kind.content == .openEnded && handling.acceptsHead(head))
        return isJudged ? .validating : .receiving
    }

    /// Creates the error of a cancelled operation, and records it as the operation's failure.
    final func makeCancellation() -> RequestError {
        let phase = phase
        let error = addContext(to: RequestError(.cancelled, phase: phase), in: phase)
        core.withLock { $0.run.fail(with: error) }
        return error
    }

    /// Adds the request, the response and the transfers to a failure, and records it as the operation's failure.
    final func recordFailure(_ failure: RunFailure) -> RequestError {
        let wrapped: RequestError
        if failure.error is CancellationError {
            // The caller's code threw the error; this operation itself wasn't cancelled.
            let reason = "a task that the request needs was cancelled"
            wrapped = RequestError(.other, phase: failure.phase, reason: reason, underlying: failure.error)
        } else {
            let error = RequestError(failure.error)
            wrapped = failure.isCallerError ? error.thrown(by: throwingInterceptor) : error
        }
        let error = addContext(to: wrapped, in: failure.phase, validatedResponse: failure.response)
        core.withLock { $0.run.fail(with: error) }
        return error
    }

    /// Adds the details of the run to an error.
    final func addContext(
        to error: RequestError,
        in phase: RequestError.Phase,
        validatedResponse: HTTPResponse<Data>? = nil
    ) -> RequestError {
        let limit = configuration.environment.maximumErrorBodySize
        return record.addContext(to: error, in: phase, validatedResponse: validatedResponse, contentLimit: limit)
    }
}

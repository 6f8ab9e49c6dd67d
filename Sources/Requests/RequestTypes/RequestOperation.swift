// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that runs a ``Request`` and has a typed result.
///
/// ```swift
/// let login = queue.addRequest(LoginRequest(user: user))
/// let show = BlockOperation { if case .success(let token)? = login.result { … } }
/// show.addDependency(login)
/// ```
///
/// The order is always the same: the result is stored, the completions are enqueued on their queues, and then the
/// operation finishes. Therefore, every operation that depends on this operation can read ``result``. If a dependent
/// operation runs on the serial queue of a completion, it runs after the completion.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds only a constant.
open class RequestOperation<R: Request>: AnyRequestOperation, @unchecked Sendable {
    /// The typed result of the request, success or failure.
    public typealias Outcome = Result<R.Success, R.Failure>

    private let source: RequestSource<R>

    /// Creates an operation that sends nothing, because a subclass produces the value.
    public init(source: RequestSource<R>) {
        self.source = source
        super.init(.withoutRequest, over: nil, scope: nil, NoHandling<R>.self)
    }

    init(
        source: RequestSource<R>,
        _ configuration: RunConfiguration,
        over transport: (any HTTPTransport)?,
        scope: NestingContext?,
        _ kind: any ResponseHandling.Type
    ) {
        self.source = source
        super.init(configuration, over: transport, scope: scope, kind, isDeferred: source.value == nil)
    }

    // An operation that was neither run nor cancelled, for example because it was never added to a queue, must still
    // call its completions.
    deinit {
        let (needsCompletion, hasLinks) = core.withLock { ($0.needsCompletion, $0.links.hasDependencies) }
        if needsCompletion { abandon() }
        if hasLinks { removeDependencies() }
    }

    @inline(never)
    private func abandon() {
        let reason = "the operation was deallocated before it started"
        let result = Box(Outcome.failure(mapError(RequestError(.cancelled, phase: .waiting, reason: reason))))
        performEffectsInDeinit(core.withLock { $0.complete(with: result) })
    }

    /// The request; `nil` if it depends on another operation's result and isn't created yet.
    public final var request: R? { source.value }

    /// The result; `nil` until the operation has a result.
    ///
    /// The result is stored before the operation is finished, and never changes.
    public final var result: Outcome? { core.withLock { $0.result }.map(Self.unboxed) }

    // The cast is unchecked because all results of an operation have the same type, and a check would take longer than
    // the rest of the access.
    static func unboxed(_ result: OperationCore.AnyResult) -> Outcome {
        unsafeDowncast(result, to: Box<Outcome>.self).value
    }

    /// Waits for the result, and returns the value.
    ///
    /// Cancelling the waiting task doesn't cancel the operation, because other tasks may also be waiting for it. With
    /// the queue's `fetch`, cancelling the task also cancels the operation.
    ///
    /// - Throws: The failure of the request; a cancellation also counts as a failure.
    public final func value() async throws(R.Failure) -> R.Success {
        try await awaitOutcome().get()
    }

    /// Waits for the result, and returns it without throwing its failure.
    final func awaitOutcome() async -> Outcome {
        Self.unboxed(await withUnsafeContinuation { addResultHandler(.resume($0)) })
    }

    /// Adds a closure that is called once with the result, even if the operation already has its result.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called, always asynchronously.
    ///   - body: The closure.
    @_disfavoredOverload
    public final func addCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Outcome) -> Void) {
        let body = NestingContext.bindCurrent(to: body)
        addResultHandler(.call { result in queue.async { body(Self.unboxed(result)) } })
    }

    /// Adds a closure that is called once on the main actor with the result, even if the operation already has its
    /// result.
    ///
    /// - Parameters:
    ///   - queue: The main queue, on which the closure is called, always asynchronously.
    ///   - body: The closure.
    public final func addCompletion(on queue: MainQueue, _ body: @escaping @MainActor (Outcome) -> Void) {
        addCompletion(on: DispatchQueue.main, queue.isolating(body))
    }

    /// Adds a closure that is called once with the value and its response.
    final func addResponseCompletion(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable (Result<HTTPResponse<R.Success>, R.Failure>) -> Void
    ) {
        let makeDecoder = configuration.environment.customMakeDecoder
        addCompletion(on: queue) { [core, source] outcome in
            body(outcome.response(core.withLock { $0.run.record }, makeDecoder, source.mapError))
        }
    }

    /// Adds a closure that is called once with the value and its response, or with the failure as a ``RequestError``.
    package final func addUnconvertedCompletion(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable (Result<HTTPResponse<R.Success>, RequestError>) -> Void
    ) {
        addResponseCompletion(on: queue) { [core] result in
            body(result.mapError { core.withLock { $0.run.failure } ?? RequestError($0) })
        }
    }

    /// Ends the operation with the given result, unless it already has a result.
    ///
    /// Use this method in subclasses and in replacement queues for tests. A plain ``AsynchronousOperation/finish()``
    /// carries no result, so it counts as a cancellation.
    ///
    /// - Returns: Whether the result was accepted.
    @discardableResult
    public final func finish(with result: Outcome) -> Bool {
        complete(with: Box(result))
    }

    /// Ends the operation with an error, converted to the request's error type, unless it already has a result.
    ///
    /// - Returns: Whether the error was accepted.
    @discardableResult
    public final func finish(throwing error: any Error) -> Bool {
        complete { Box(Outcome.failure(mapError(error))) }
    }

    /// Returns the request; the first call creates a deferred request, and later calls return `nil` if that failed.
    final func resolveRequest() throws -> R? {
        guard let deferred = source.deferred, deferred.value == nil else { return source.value }
        return try deferred.make()
    }

    /// Releases the closure that creates a deferred request.
    final func releaseSource() { source.deferred?.takeClosure() }

    final func mapError(_ error: any Error) -> R.Failure { source.mapError(error) }

    override var makeIdentifier: (@Sendable () -> String)? {
        guard let request else { return nil }
        return { request.identifier }
    }

    // `finish()` is public and carries no result, so an operation that it ends counts as cancelled.
    override func makeCancellationResult() -> OperationCore.AnyResult? {
        Box(Outcome.failure(mapError(makeCancellation())))
    }

    override class func failure(in result: OperationCore.AnyResult) -> (any Error)? {
        if case .failure(let error) = unboxed(result) { error } else { nil }
    }

    override func refuse(_ error: RequestError) {
        finish(throwing: error)
        ignoreDependencies()
    }

    override var displayType: String { R.shownTypeName }

    override var displayRequest: String {
        guard let request else { return displayType }
        if let tag = configuration.options.tag { return tag.shortened() }
        return "\(displayType) \(Redaction.address(request.identifier.withoutDigest).shortened())"
    }
}

/// The response handling of an operation whose subclass produces the value.
private struct NoHandling<R: Request>: LocalHandling {
    let operation: RequestOperation<R>

    func didDeliver() { operation.releaseSource() }
}

/// An operation that provides its request as an existential.
protocol RequestHolder {
    /// The request; `nil` until it has been created.
    var anyRequest: (any Request)? { get }
}

extension RequestOperation: RequestHolder {
    var anyRequest: (any Request)? { request }
}

extension Result {
    /// Returns the response with the value as its body.
    ///
    /// - Parameters:
    ///   - record: The record of the run.
    ///   - makeDecoder: Creates the decoder of the environment.
    ///   - mapError: Converts an error of the library.
    /// - Returns: The response, or a failure: the failure of this result, or an error if there is a value but no
    ///   response.
    func response(
        _ record: RunRecord?,
        _ makeDecoder: (@Sendable () -> JSONDecoder)?,
        _ mapError: (any Error) -> Failure
    ) -> Result<HTTPResponse<Success>, Failure> {
        flatMap { value in
            guard let record, let head = record.head else {
                let reason = "the operation finished with a value but without a response"
                return .failure(mapError(RequestError(.badResponse, phase: .validating, reason: reason)))
            }
            let notes = ResponseNotes(history: record.history, makeDecoder: makeDecoder)
            return .success(HTTPResponse(head: head, body: value, notes: notes))
        }
    }
}

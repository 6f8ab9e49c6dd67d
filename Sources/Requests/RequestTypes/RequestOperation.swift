// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation with a typed result: the running side of a ``Request``.
///
/// ```swift
/// let login = queue.addRequest(LoginRequest(user: user))
/// let show = BlockOperation { if case .success(let token)? = login.result { … } }
/// show.addDependency(login)
/// ```
///
/// The order is always the same: the result is stored, the completions are enqueued on their queues, and then the
/// operation is finished. So every operation that depends on this one can read ``result``. One on the serial queue of a
/// completion runs after the completion.
// Sendable: Operation requires restating it; the only addition here is a constant.
open class RequestOperation<R: Request>: AnyRequestOperation, @unchecked Sendable {
    /// The result of the request: success or failure, typed.
    public typealias Outcome = Result<R.Success, R.Failure>

    private let source: RequestSource<R>

    /// Makes an operation for a request, which sends nothing: a subclass makes the value.
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

    // An operation that was neither run nor cancelled, for example because it never got a queue, must still call its
    // completions.
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

    /// The request; `nil` until it has been made from the result of another operation.
    public final var request: R? { source.value }

    /// The result; `nil` before the operation has one.
    ///
    /// It is stored before the operation is finished, and never changes.
    public final var result: Outcome? { core.withLock { $0.result }.map(Self.unboxed) }

    // All results of an operation are of its own type. Checking the cast would take longer than the rest of the access.
    static func unboxed(_ result: OperationCore.AnyResult) -> Outcome {
        unsafeDowncast(result, to: Box<Outcome>.self).value
    }

    /// Waits for the result.
    ///
    /// Cancelling the waiting task doesn't cancel the operation, which others may be waiting for too; the queue's
    /// `fetch` does both.
    ///
    /// - Throws: The failure of the request, including that of a cancelled operation.
    public final func value() async throws(R.Failure) -> R.Success {
        try await awaitOutcome().get()
    }

    /// Waits for the result, without throwing it.
    final func awaitOutcome() async -> Outcome {
        Self.unboxed(await withUnsafeContinuation { addResultHandler(.resume($0)) })
    }

    /// Adds a closure that is called once with the result, on a queue; also if there is already a result.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called, always asynchronously.
    ///   - body: The closure.
    @_disfavoredOverload
    public final func addCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Outcome) -> Void) {
        let body = NestingContext.bindCurrent(to: body)
        addResultHandler(.call { result in queue.async { body(Self.unboxed(result)) } })
    }

    /// Adds a closure on the main actor that is called once with the result; also if there is already a result.
    ///
    /// - Parameters:
    ///   - queue: The main queue, on which the closure is called, always asynchronously.
    ///   - body: The closure.
    public final func addCompletion(on queue: MainQueue, _ body: @escaping @MainActor (Outcome) -> Void) {
        addCompletion(on: DispatchQueue.main, queue.isolating(body))
    }

    /// Adds a closure that is called once with the value together with its response.
    final func addResponseCompletion(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable (Result<HTTPResponse<R.Success>, R.Failure>) -> Void
    ) {
        let makeDecoder = configuration.environment.customMakeDecoder
        addCompletion(on: queue) { [core, source] outcome in
            body(outcome.response(core.withLock { $0.run.record }, makeDecoder, source.mapError))
        }
    }

    /// Adds a closure that is called once with the value together with its response, or with the failure before the
    /// request converted it to its own type.
    package final func addUnconvertedCompletion(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable (Result<HTTPResponse<R.Success>, RequestError>) -> Void
    ) {
        addResponseCompletion(on: queue) { [core] result in
            body(result.mapError { core.withLock { $0.run.failure } ?? RequestError($0) })
        }
    }

    /// Ends the operation with a result, unless it has one.
    ///
    /// A plain ``AsynchronousOperation/finish()``, which has no result, is a cancellation. This method is meant for
    /// subclasses, and for queues that replace real ones.
    ///
    /// - Returns: Whether the result was accepted.
    @discardableResult
    public final func finish(with result: Outcome) -> Bool {
        complete(with: Box(result))
    }

    /// Ends the operation with an error, converted to the request's own type, unless it has a result.
    ///
    /// - Returns: Whether the error was accepted.
    @discardableResult
    public final func finish(throwing error: any Error) -> Bool {
        complete { Box(Outcome.failure(mapError(error))) }
    }

    /// Returns the request, and makes it now if it is deferred; `nil` if making it has failed before.
    final func resolveRequest() throws -> R? {
        guard let deferred = source.deferred, deferred.value == nil else { return source.value }
        return try deferred.make()
    }

    /// Releases the closure that creates a deferred request.
    final func releaseSource() { source.deferred?.forget() }

    final func mapError(_ error: any Error) -> R.Failure { source.mapError(error) }

    override var makeIdentifier: (@Sendable () -> String)? {
        guard let request else { return nil }
        return { request.identifier }
    }

    // `finish()` is public, and has no result: an operation that it ends is a cancelled one.
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

/// The handling of an operation whose subclass creates the value.
private struct NoHandling<R: Request>: LocalHandling {
    let operation: RequestOperation<R>

    func didDeliver() { operation.releaseSource() }
}

/// An operation whose request has any type.
protocol RequestHolder {
    /// The request; `nil` until there is one.
    var anyRequest: (any Request)? { get }
}

extension RequestOperation: RequestHolder {
    var anyRequest: (any Request)? { request }
}

extension Result {
    /// The value together with its response.
    ///
    /// - Parameters:
    ///   - record: The record of the run.
    ///   - makeDecoder: Creates the decoder of the environment.
    ///   - mapError: Converts an error of the library.
    /// - Returns: The response; the failure without one.
    func response(
        _ record: RunRecord?,
        _ makeDecoder: (@Sendable () -> JSONDecoder)?,
        _ mapError: (any Error) -> Failure
    ) -> Result<HTTPResponse<Success>, Failure> {
        flatMap { value in
            guard let record, let head = record.head else {
                let reason = "the operation finished with a value, and without a response"
                return .failure(mapError(RequestError(.badResponse, phase: .validating, reason: reason)))
            }
            let notes = ResponseNotes(history: record.history, makeDecoder: makeDecoder)
            return .success(HTTPResponse(head: head, body: value, notes: notes))
        }
    }
}

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
/// operation is finished. So every operation that depends on this one can read ``result``, and one that runs on the
/// serial queue of a completion runs behind it.
// Sendable: Operation demands that it be restated; what is added here is one lock.
open class RequestOperation<R: Request>: AsynchronousOperation, @unchecked Sendable {
    /// The result of the request: success or failure, typed.
    public typealias Outcome = Result<R.Success, R.Failure>

    private let source: RequestSource<R>

    /// Makes an operation for a request.
    public init(source: RequestSource<R>) {
        self.source = source
        super.init()
    }

    // An operation that nobody ran and nobody cancelled, such as one that never got a queue, still owes its
    // completions.
    deinit {
        guard core.withLock({ $0.isOwing }) else { return }
        let reason = "the operation was let go of before it ran"
        let result = Box(Outcome.failure(mapError(RequestError(.cancelled, phase: .waiting, reason: reason))))
        core.withLock { $0.settle(with: result) }.observers.tell(result)
    }

    /// The request; nil as long as it is yet to be made from the result of another operation.
    public final var request: R? { source.value }

    /// The result; nil as long as there is none.
    ///
    /// It is there before the operation is finished, and never changes.
    public final var result: Outcome? { core.withLock { $0.result }.map(Self.outcome) }

    /// Whether there is a result.
    final var hasResult: Bool { core.withLock { $0.result != nil } }

    // All results of an operation are of its own type. To have the cast checked takes longer than all else about it.
    private static func outcome(_ result: OperationState.AnyResult) -> Outcome {
        unsafeDowncast(result, to: Box<Outcome>.self).value
    }

    /// Waits for the result.
    ///
    /// Cancelling the waiting task doesn't cancel the operation, which others may be waiting for too; the queue's
    /// `fetch` does both.
    ///
    /// - Throws: The failure of the request, a cancelled operation's included.
    public final func value() async throws(R.Failure) -> R.Success {
        try await awaitOutcome().get()
    }

    /// Waits for the result, without throwing it.
    final func awaitOutcome() async -> Outcome {
        await withUnsafeContinuation { resume($0) }
    }

    /// Adds a closure that is called with the result, once, on a queue; also when the result is there already.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called, always asynchronously.
    ///   - body: The closure.
    public final func addCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Outcome) -> Void) {
        let body = CallScope.carried(by: body)
        whenThereIsAResult { result in queue.async { body(Self.outcome(result)) } }
    }

    /// Ends the operation with a result, unless it has one. (A plain ``AsynchronousOperation/finish()``, which has
    /// none to give, is a cancellation.)
    ///
    /// For subclasses, and for queues that stand in for real ones.
    ///
    /// - Returns: Whether the result was taken.
    @discardableResult
    public final func finish(with result: Outcome) -> Bool {
        settle { Box(result) }
    }

    /// Ends the operation with a result, and does something more before anyone can know of it, unless it has one.
    @discardableResult
    final func finish(with result: Outcome, alongside action: () -> Void) -> Bool {
        settle {
            action()
            return Box(result)
        }
    }

    /// Ends the operation with an error, which becomes one of the request's own, unless it has a result.
    ///
    /// - Returns: Whether the error was taken.
    @discardableResult
    public final func finish(throwing error: any Error) -> Bool {
        settle { Box(Outcome.failure(mapError(error))) }
    }

    /// Calls `body` with the result when the operation ends, on the thread that ends it, or at once.
    final func observe(_ body: @escaping @Sendable (Outcome) -> Void) {
        whenThereIsAResult { body(Self.outcome($0)) }
    }

    /// Continues a task with the result when the operation ends, or at once.
    final func resume(_ continuation: UnsafeContinuation<Outcome, Never>) {
        whenThereIsAResult { continuation.resume(returning: Self.outcome($0)) }
    }

    // What is told holds on to the result, and not to the operation: one that nobody runs has to go before it tells
    // anybody.
    private func whenThereIsAResult(_ observer: @escaping OperationState.Observer) {
        if let result = core.withLock({ $0.add(observer) }) { observer(result) }
    }

    /// The request, made now if it is a deferred one; nil for one that couldn't be made before.
    final func resolveRequest() throws -> R? {
        guard let deferred = source.deferred, deferred.value == nil else { return source.value }
        guard let request = try deferred.make() else { return nil }
        noteRequest(request)
        return request
    }

    /// Called when a deferred request was made.
    func noteRequest(_ request: R) {}

    final func mapError(_ error: any Error) -> R.Failure { source.mapError(error) }

    /// The error of a cancelled operation.
    func makeCancellation() -> RequestError {
        RequestError(.cancelled, phase: .waiting)
    }

    // `finish()` is everybody's, and knows of no result: an operation that it ends is a cancelled one.
    override func makeCancellationResult() -> OperationState.AnyResult? {
        Box(Outcome.failure(mapError(makeCancellation())))
    }

    override func refuse(_ error: RequestError) {
        finish(throwing: error)
    }

    override var shownType: String { R.shownTypeName }

    override func didTell(_ settled: SettledOperation) {
        source.deferred?.forget()
        settled.release()
    }
}

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

    // Of one size, whatever the request is: nobody has to find out what that is made of to get at the rest.
    private struct State {
        var source: RequestSource<R>
        var result: Box<Outcome>?
        /// What is done when the result is there.
        var observers: [@Sendable () -> Void] = []
        /// Whether that has been done: until then, who comes stands behind those who came before.
        var isTold = false
    }

    private let state: Locked<State>

    /// Makes an operation for a request.
    public init(source: RequestSource<R>) {
        state = Locked(State(source: source))
        super.init()
    }

    // An operation that nobody ran and nobody cancelled, such as one that never got a queue, still owes its
    // completions.
    deinit {
        guard state.withLock({ $0.result == nil && !$0.observers.isEmpty }) else { return }
        let reason = "the operation was let go of before it ran"
        store(.failure(mapError(RequestError(.cancelled, phase: .waiting, reason: reason))))
        tellObservers()
    }

    /// The request; nil as long as it is yet to be made from the result of another operation.
    public final var request: R? { state.withLock { $0.source }.value }

    /// The result; nil as long as there is none.
    ///
    /// It is there before the operation is finished, and never changes.
    public final var result: Outcome? { state.withLock { $0.result }?.value }

    /// Waits for the result.
    ///
    /// Cancelling the waiting task doesn't cancel the operation, which others may be waiting for too; the queue's
    /// `fetch` does both.
    ///
    /// - Throws: The failure of the request, a cancelled operation's included.
    public final func value() async throws(R.Failure) -> R.Success {
        try await outcome().get()
    }

    /// Waits for the result, without throwing it.
    final func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            observe { continuation.resume(returning: $0) }
        }
    }

    /// Adds a closure that is called with the result, once, on a queue; also when the result is there already.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called, always asynchronously.
    ///   - body: The closure.
    public final func addCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Outcome) -> Void) {
        let tell = telling(CallScope.carried(by: body))
        whenThereIsAResult { queue.async(execute: tell) }
    }

    /// Ends the operation with a result, unless it has one. (A plain ``AsynchronousOperation/finish()``, which has
    /// none to give, is a cancellation.)
    ///
    /// For subclasses, and for queues that stand in for real ones.
    ///
    /// - Returns: Whether the result was taken.
    @discardableResult
    public final func finish(with result: Outcome) -> Bool {
        settle { store(result) }
    }

    /// Ends the operation with a result, and does something more before anyone can know of it, unless it has one.
    @discardableResult
    final func finish(with result: Outcome, alongside action: () -> Void) -> Bool {
        settle {
            action()
            store(result)
        }
    }

    /// Ends the operation with an error, which becomes one of the request's own, unless it has a result.
    ///
    /// - Returns: Whether the error was taken.
    @discardableResult
    public final func finish(throwing error: any Error) -> Bool {
        settle { store(.failure(mapError(error))) }
    }

    /// Calls `body` with the result when the operation ends, on the thread that ends it, or at once.
    final func observe(_ body: @escaping @Sendable (Outcome) -> Void) {
        whenThereIsAResult(telling(body))
    }

    /// Calls `body` with the result.
    ///
    /// It holds on to the result, and not to the operation: one that nobody runs has to go before it tells anybody.
    private func telling(_ body: @escaping @Sendable (Outcome) -> Void) -> @Sendable () -> Void {
        { [state] in
            if let result = state.withLock({ $0.result }) { body(result.value) }
        }
    }

    private func whenThereIsAResult(_ observer: @escaping @Sendable () -> Void) {
        let isTold = state.withLock { state in
            if !state.isTold { state.observers.append(observer) }
            return state.isTold
        }
        if isTold { observer() }
    }

    private func tellObservers() {
        var observers: [@Sendable () -> Void]
        repeat {
            observers = state.withLock { state in
                defer { state.observers = [] }
                state.isTold = state.observers.isEmpty
                return state.observers
            }
            for observer in observers { observer() }
        } while !observers.isEmpty
    }

    /// The request, made now if it is a deferred one; nil for one that couldn't be made before.
    final func resolveRequest() throws -> R? {
        if let request { return request }
        guard let make = state.withLock({ $0.source.takeMake() }) else { return nil }
        let request = try make()
        state.withLock { $0.source = .value(request) }
        noteRequest(request)
        return request
    }

    /// Called when a deferred request was made.
    func noteRequest(_ request: R) {}

    final func mapError(_ error: any Error) -> R.Failure {
        state.withLock { $0.source }.mapError(error)
    }

    private func store(_ result: Outcome) {
        let result = Box(result)
        state.withLock { $0.result = result }
    }

    /// The error of a cancelled operation.
    func makeCancellation() -> RequestError {
        RequestError(.cancelled, phase: .waiting)
    }

    override func storeCancellation() {
        store(.failure(mapError(makeCancellation())))
    }

    override func refuseDependency() {
        finish(throwing: RequestError(.dependencyCycle, phase: .waiting, reason: "the operation would wait for itself"))
    }

    override func deliver() {
        // `finish()` is everybody's, and knows of no result: an operation that it ends is one that was called off.
        if state.withLock({ $0.result == nil }) { storeCancellation() }
        _ = state.withLock { $0.source.takeMake() }
        tellObservers()
    }
}

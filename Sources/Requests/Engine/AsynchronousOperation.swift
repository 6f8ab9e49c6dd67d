// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that ends when its work does, rather than when `main` returns.
///
/// The library's operations are all of this kind. It implements the parts of an asynchronous `Operation` that are hard
/// to get right: one locked state machine, notifications outside the lock, an end that comes exactly once and never
/// before the queue has started the operation, and dependencies that are released when the operation is over.
///
/// To write one, override ``execute()``, and call ``finish()`` when the work is done, from any thread:
///
/// ```swift
/// final class Ripen: AsynchronousOperation, @unchecked Sendable {
///     override func execute() {
///         DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.finish() }
///     }
/// }
/// ```
///
/// A cancellation ends such an operation at once, and frees its place in the queue, while its work may still run. If
/// that matters, override ``cancel()`` to stop the work, and call `super`.
///
/// The library never uses `completionBlock`: it is yours.
// Sendable: Operation requires restating it; the only addition here is one lock.
open class AsynchronousOperation: Operation, CustomReflectable, @unchecked Sendable {
    final let core = Locked(OperationState())

    // Foundation keeps pointers to the dependents of an operation, and follows them when it finishes. An operation that
    // is deallocated without having run has to remove its own.
    deinit {
        if core.withLock({ $0.links.hasDependencies }) { dropLinks() }
    }

    // MARK: The state, for Operation

    /// Always true.
    public final override var isAsynchronous: Bool { true }

    /// Whether the queue has started the operation, and it isn't finished.
    public final override var isExecuting: Bool { core.withLock { $0.lifecycle.isExecuting } }

    /// Whether the operation is over.
    public final override var isFinished: Bool { core.withLock { $0.lifecycle.isFinished } }

    /// Starts the operation; called by its queue.
    ///
    /// A cancelled operation finishes here without executing. A second start is ignored.
    public final override func start() {
        willChangeValue(forKey: Self.isExecutingKey)
        let action = transition(.start)
        didChangeValue(forKey: Self.isExecutingKey)
        perform(action)
    }

    /// Cancels the operation.
    ///
    /// The first settlement of an operation wins, and a cancellation is one. An operation that already has its result
    /// keeps it. One that waits in its queue has its result, and its completions enqueued, when this returns, but stays
    /// in the queue until that starts it. Safe from any thread and at any time, also repeatedly.
    open override func cancel() {
        // The settlement comes first: when `super` marks the operation ready, its queue may start it at once, and must
        // find it settled. The delivery comes last, so that an observer of the result also sees `isCancelled`.
        let action = transition(.settle)
        super.cancel()
        if action == .deliver { deliver(makeCancellationResult()) }
    }

    // MARK: For debugging

    /// A mirror of the name and the state, for `dump`.
    ///
    /// It has nothing else, since Foundation's part of an operation has pointers to others that may be deallocated: on
    /// Linux, following them ends the process. A subclass that overrides this must not show the ancestors' children
    /// either.
    open var customMirror: Mirror {
        Mirror(
            self,
            children: [
                ("name", name as Any), ("isExecuting", isExecuting), ("isFinished", isFinished),
                ("isCancelled", isCancelled),
            ],
            displayStyle: .class,
            ancestorRepresentation: .suppressed
        )
    }

    // MARK: For subclasses

    /// Does the work, and ensures that ``finish()`` is called at its end.
    ///
    /// The base class finishes at once.
    open func execute() {
        finish()
    }

    /// Ends the operation.
    ///
    /// Only the first call counts; one that comes before the start takes effect with it.
    public final func finish() {
        settle { makeCancellationResult() }
    }

    /// Continues a task with the result when the operation ends, or at once.
    final func resume(_ continuation: UnsafeContinuation<OperationState.AnyResult, Never>) {
        whenThereIsAResult { continuation.resume(returning: $0) }
    }

    // The observer retains the result, and not the operation: one that is never run has to be deallocated before its
    // observers are notified.
    final func whenThereIsAResult(_ observer: @escaping OperationState.Observer) {
        if let result = core.withLock({ $0.add(observer) }) { observer(result) }
    }

    /// Settles the operation, unless it is already settled, with a result that is made outside of the lock.
    @inline(__always)
    @discardableResult
    final func settle(_ makeResult: () -> OperationState.AnyResult?) -> Bool {
        guard transition(.settle) == .deliver else { return false }
        deliver(makeResult())
        return true
    }

    /// Passes an input to the lifecycle, and performs the resulting action.
    final func advance(_ input: OperationLifecycle.Input) {
        perform(transition(input))
    }

    /// Passes an input to the lifecycle, and returns the resulting action.
    final func transition(_ input: OperationLifecycle.Input) -> OperationLifecycle.Action {
        core.withLock { $0.lifecycle.handle(input) }
    }

    /// Makes the result of an operation that is cancelled, or ended without one; the base class has no results.
    func makeCancellationResult() -> OperationState.AnyResult? { nil }

    /// Called once between storing the result and enqueuing the completions.
    func willTell(_ settled: SettledOperation) {}

    /// Releases the resources of the work, after the completions are enqueued; called once.
    func didTell(_ settled: SettledOperation) {}

    /// Leaves the lines of its categories, for an operation that has its result before its start, since it has nothing
    /// left to do.
    func didSettleUnstarted() {
        core.withLock { $0.links.place }?.leave()
    }

    /// Performs an action of the lifecycle.
    private func perform(_ action: OperationLifecycle.Action) {
        switch action {
        case .announce: advance(.announced)
        case .execute: execute()
        case .finish: announceEnd()
        case .none, .send, .deliver: break
        }
    }

    /// Stores the result, notifies observers, releases the resources of the work, and finishes unless something else
    /// has to come first.
    private func deliver(_ result: OperationState.AnyResult?) {
        let (settled, observers) = core.withLock { $0.settle(with: result) }
        willTell(settled)
        if let result { observers.tell(result) }
        didTell(settled)
        while true {
            switch core.withLock({ $0.endDelivery() }) {
            case .tell(let late): if let result { late.tell(result) }
            case .over(let action, let awaitsStart):
                if awaitsStart { didSettleUnstarted() }
                return perform(action)
            }
        }
    }

    private func announceEnd() {
        willChangeValue(forKey: Self.isExecutingKey)
        willChangeValue(forKey: Self.isFinishedKey)
        let (hasLinks, place) = core.withLock { state in
            _ = state.lifecycle.handle(.finished)
            defer { (state.links.hasDependencies, state.links.place) = (false, nil) }
            return (state.links.hasDependencies, state.links.place)
        }
        didChangeValue(forKey: Self.isExecutingKey)
        didChangeValue(forKey: Self.isFinishedKey)
        place?.leave()
        if hasLinks { dropLinks() }
    }

    // Strings rather than key paths, which swift-corelibs-foundation first compares slowly, and then converts to
    // strings.
    private static let isExecutingKey = "isExecuting"
    private static let isFinishedKey = "isFinished"

    // MARK: Dependencies

    /// Makes the operation wait for another.
    ///
    /// A dependency that would make the operation wait for itself isn't added; instead, the operation is settled. If
    /// its kind has a result, that is an error of code `dependencyCycle` that names the path, and otherwise it is
    /// cancelled. The search uses no recursion; if no operation depends on this one yet, it skips what earlier calls
    /// have verified. A cycle that is closed later, by a plain operation or by another thread, is found while the
    /// operation waits.
    ///
    /// - Complexity: O(1) for an operation without dependents, else O(n) in the dependencies of `operation`.
    open override func addDependency(_ operation: Operation) {
        if let error = cycle(through: operation) { return refuse(error) }
        addVerifiedDependency(operation)
        // Its turn in a line comes when all its dependencies are finished.
        core.withLock { $0.links.place }?.delay(behind: operation)
    }

    /// The error for an operation that would wait for itself if it depended on another; `nil` if it may depend on it.
    final func cycle(
        through operation: Operation,
        sparing isVerified: (Operation) -> Bool = { _ in false }
    ) -> RequestError? {
        let walk = DependencyWalk(
            from: [operation],
            throughAsynchronous: core.withLock { $0.links.isDependedUpon },
            sparing: isVerified
        ) { $0 === self }
        guard walk.path.isEmpty else { return .dependencyCycle(of: self, through: walk.path) }
        guard !isFinished else { return nil }
        for reached in walk.asynchronous { reached.core.withLock { $0.links.isDependedUpon = true } }
        return nil
    }

    /// Makes the operation wait for another that is known not to wait for this one.
    final func addVerifiedDependency(_ operation: Operation) {
        guard !isFinished else { return }  // It doesn't wait any more, and the link would never be removed.
        let isFirst = core.withLock { state in
            defer { state.links.hasDependencies = true }
            return !state.links.hasDependencies
        }
        super.addDependency(operation)
        if isFirst, !(self is OperationGate) { CycleWatch.shared.watch(self) }
    }

    /// Ends the operation with an error, if it is of a kind that has a result, and cancels it otherwise.
    ///
    /// It doesn't wait for its dependencies any more: they may wait for it.
    func refuse(_ error: RequestError) {
        cancel()
    }

    /// Lets the queue start an operation that has its result, whatever it depends on.
    final func release() {
        super.cancel()
    }

    /// The name of the type, for graphs and errors.
    var shownType: String { String(describing: type(of: self)) }

    /// The request for errors: its tag, or its type and identifier.
    var shownRequest: String { shownType }

    /// Whether it is a group.
    var hasMembers: Bool { false }

    /// The categories of which only one operation may run at a time.
    var exclusivity: Set<ExclusiveCategory> { [] }
}

extension Operation {
    /// Releases the dependencies of an operation that is over.
    ///
    /// Otherwise every operation of a chain would retain the one before it, and releasing the last would release all,
    /// each inside the other's deinitialiser, until the stack overflows. And on Linux, a dependency that isn't finished,
    /// because this operation was cancelled, keeps a pointer to it, and follows it later. It has to come after the end is
    /// announced: before it, every removal would make the queue look for work, and removing an unfinished dependency
    /// strands the operation.
    final func dropLinks() {
        for dependency in dependencies.reversed() { removeDependency(dependency) }
    }

    /// Makes the queue to which the operation was just added check again whether it is ready.
    ///
    /// On Linux, a queue doesn't notice that the last dependency finishes while it adds an operation. It would leave
    /// the operation until something else happens: for ever, if it is the last one.
    package final func remindQueue() {
        #if !canImport(Darwin)
        if !dependencies.isEmpty, isReady, !isExecuting, !isFinished { didChangeValue(forKey: "isReady") }
        #endif
    }
}

/// The relations of an operation in the graph.
struct DependencyLinks: Sendable {
    /// Whether other operations may depend on this one: only then can a new dependency close a cycle.
    var isDependedUpon = false
    /// Whether the operation depends on anything.
    var hasDependencies = false
    /// Its place in the lines of exclusive categories.
    var place: ExclusivePlace?
    /// The group that it is a member of.
    weak var group: AsynchronousOperation?
    /// Whether a client has added it to an operation queue that others may also use.
    var isOfClient = false
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that ends when its work does, rather than when `main` returns.
///
/// The library's operations are all of this kind. It adds to `Operation` what that asks of asynchronous subclasses and
/// is easily got wrong: one locked state machine, notifications outside the lock, an end that comes exactly once and
/// never before the queue has started the operation, and links to dependencies that go when the operation is over.
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
/// A cancel ends such an operation at once, and frees its place in the queue, while work that it has begun may still
/// run. Where that matters, override ``cancel()`` to stop the work, and call `super`.
///
/// `completionBlock` is never used by the library: it is yours.
// Sendable: Operation demands that it be restated; what is added here is one lock.
open class AsynchronousOperation: Operation, CustomReflectable, @unchecked Sendable {
    final let core = Locked(OperationState())

    // Foundation keeps those that depend on an operation as pointers, and follows them when it finishes. One that is
    // deallocated without having run has to take its own away.
    deinit {
        if core.withLock({ $0.links.hasDependencies }) { dropLinks() }
    }

    // MARK: The state, as Operation wants to see it

    /// Always true.
    public final override var isAsynchronous: Bool { true }

    /// Whether the queue has started the operation, and it isn't finished.
    public final override var isExecuting: Bool { core.withLock { $0.lifecycle.isExecuting } }

    /// Whether the operation is over.
    public final override var isFinished: Bool { core.withLock { $0.lifecycle.isFinished } }

    /// Starts the operation; called by its queue.
    ///
    /// A cancelled operation finishes here without having executed. A second start is ignored.
    public final override func start() {
        willChangeValue(forKey: Self.isExecutingKey)
        let action = transition(.start)
        didChangeValue(forKey: Self.isExecutingKey)
        perform(action)
    }

    /// Cancels the operation.
    ///
    /// Cancelling is a settlement as any other: the first one wins. An operation that has its result already keeps it.
    /// One that waits in its queue has its result, and its completions enqueued, when this returns, but stays in the
    /// queue until that starts it. Safe from any thread and at any time, also more than once.
    open override func cancel() {
        // The settlement comes first: when `super` marks the operation ready, its queue may start it at once, and must
        // find it settled. The delivery comes last, so that whoever sees the result sees `isCancelled` too.
        let action = transition(.settle)
        super.cancel()
        if action == .deliver { deliver(makeCancellationResult()) }
    }

    // MARK: For debugging

    /// What `dump` shows: the name, and how far the operation is.
    ///
    /// There is nothing more, as Foundation's part of an operation has pointers to others that may be gone: on Linux, following
    /// them ends the process. A subclass that overrides this must not show the ancestors' children either.
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

    /// Does the work, and sees to it that ``finish()`` is called at its end.
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

    /// Settles the operation, if nothing has settled it before, with a result that is made outside of the lock.
    @discardableResult
    final func settle(_ makeResult: () -> OperationState.AnyResult?) -> Bool {
        guard transition(.settle) == .deliver else { return false }
        deliver(makeResult())
        return true
    }

    /// Moves the lifecycle on, and does what that asks for.
    final func advance(_ input: OperationLifecycle.Input) {
        perform(transition(input))
    }

    /// Moves the lifecycle on, and leaves what that asks for to the caller.
    final func transition(_ input: OperationLifecycle.Input) -> OperationLifecycle.Action {
        core.withLock { $0.lifecycle.handle(input) }
    }

    /// Makes the result of an operation that is cancelled, or ended without one; the base class has no results.
    func makeCancellationResult() -> OperationState.AnyResult? { nil }

    /// What comes between the result and the completions; called once.
    func willTell(_ settled: SettledOperation) {}

    /// Releases what the work held, when the completions are enqueued; called once.
    func didTell(_ settled: SettledOperation) {}

    /// Ends the turn of an operation that has its result before its start, as there is nothing left that it would do.
    func didSettleUnstarted() {
        core.withLock { $0.links.place }?.leave()
    }

    /// Does what the lifecycle asks for.
    private func perform(_ action: OperationLifecycle.Action) {
        switch action {
        case .announce: advance(.announced)
        case .execute: execute()
        case .finish: announceEnd()
        case .none, .send, .deliver: break
        }
    }

    /// Keeps the result, tells it, releases what the work held, and finishes if nothing else has to come first.
    private func deliver(_ result: OperationState.AnyResult?) {
        let (settled, observers) = core.withLock { $0.settle(with: result) }
        willTell(settled)
        if let result { observers.tell(result) }
        didTell(settled)
        while true {
            switch core.withLock({ $0.endDelivery() }) {
            case .tell(let late): if let result { late.tell(result) }
            case .over(let action):
                if core.withLock({ $0.lifecycle.state == .settled(.start) }) { didSettleUnstarted() }
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

    // Strings rather than key paths, which swift-corelibs-foundation compares slowly, and only then turns into these.
    private static let isExecutingKey = "isExecuting"
    private static let isFinishedKey = "isFinished"

    // MARK: Dependencies

    /// Makes the operation wait for another.
    ///
    /// A dependency that would make the operation wait for itself isn't added; the operation is settled instead, with
    /// an error of code `dependencyCycle` that names the way, where it has a result. Found without recursion; for an
    /// operation that nothing depends on yet, without walking again what earlier calls have verified. What can't be seen
    /// are links that are added to plain operations after this call, and those that another thread is adding at this
    /// moment.
    ///
    /// - Complexity: O(1) for an operation that nothing depends on yet, else O(n) in what `operation` depends on.
    open override func addDependency(_ operation: Operation) {
        if let error = cycle(through: operation) { return refuse(error) }
        addVerifiedDependency(operation)
        // Its turn in a line comes when all that it depends on is finished.
        core.withLock { $0.links.place }?.delay(behind: operation)
    }

    /// The error of an operation that would wait for itself if it depended on another; nil if it may depend on it.
    final func cycle(
        through operation: Operation,
        sparing isVerified: (Operation) -> Bool = { _ in false }
    ) -> RequestError? {
        // Others wait for one in a line without depending on it.
        let isDependedUpon = core.withLock { $0.links.isDependedUpon || $0.links.place != nil }
        let walk = DependencyWalk(
            from: [operation],
            throughAsynchronous: isDependedUpon,
            sparing: isVerified
        ) { $0 === self }
        guard walk.path.isEmpty else { return .dependencyCycle(of: self, through: walk.path) }
        guard !isFinished else { return nil }
        for reached in walk.asynchronous { reached.core.withLock { $0.links.isDependedUpon = true } }
        return nil
    }

    /// Whether anything depends on the operation, as far as is known.
    final var isDependedUpon: Bool { core.withLock { $0.links.isDependedUpon } }

    /// Makes the operation wait for another, of which it is known that it doesn't wait for this one.
    final func addVerifiedDependency(_ operation: Operation) {
        guard !isFinished else { return }  // Nothing waits here any more, and nothing would drop the link.
        core.withLock { $0.links.hasDependencies = true }
        super.addDependency(operation)
    }

    /// Ends the operation with an error, if it is of a kind that has a result.
    func refuse(_ error: RequestError) {
        finish()
    }

    /// The name of the type, as pictures and errors show it.
    var shownType: String { String(describing: type(of: self)) }

    /// The categories of which the operation has to be the only one that runs.
    var exclusivity: Set<ExclusiveCategory> { [] }

    /// Releases the operations that this one waited for.
    ///
    /// Otherwise every operation of a chain keeps the one before it alive, and releasing the last releases all,
    /// each inside the other's deinitialiser, until the stack is full. It has to come after the end is announced:
    /// before it, every removal would have the queue look for work, and removing an unfinished dependency strands the
    /// operation.
    private func dropLinks() {
        for dependency in dependencies.reversed() { removeDependency(dependency) }
    }
}

extension Operation {
    /// Has the queue that the operation was just added to look once more whether it is ready.
    ///
    /// On Linux, a queue doesn't learn of the last dependency finishing while it takes an operation, and would leave that
    /// until something else happens: for ever, if it is the last one.
    final func remindQueue() {
        #if !canImport(Darwin)
        if !dependencies.isEmpty, isReady, !isExecuting, !isFinished { didChangeValue(forKey: "isReady") }
        #endif
    }
}

/// What an operation knows about its place in the graph.
struct DependencyLinks: Sendable {
    /// Whether anything may depend on the operation: only then can a new dependency close a cycle.
    var isDependedUpon = false
    /// Whether the operation depends on anything.
    var hasDependencies = false
    /// Its place in the lines of categories that only one operation at a time may be of.
    var place: ExclusivePlace?
    /// The group that it is a member of.
    weak var group: AsynchronousOperation?
    /// Whether a client has added it to an operation queue that others may use besides.
    var isOfClient = false
}

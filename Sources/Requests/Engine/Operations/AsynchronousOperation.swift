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
    final let core = Locked(OperationCore())

    // Foundation keeps pointers to the dependents of an operation, and follows them when it finishes. An operation that
    // is deallocated without having run has to remove its own.
    deinit {
        // The `deinit` of `RequestOperation` has already done this.
        if !(self is AnyRequestOperation), core.withLock({ $0.links.hasDependencies }) { removeDependencies() }
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
        #if canImport(Darwin)
        willChangeValue(forKey: Self.isExecutingKey)
        let action = transition(.start)
        didChangeValue(forKey: Self.isExecutingKey)
        #else
        // Foundation observes nothing here: the notifications would only take three locks, to store ``isExecuting``.
        let action = transition(.start)
        #endif
        perform(action)
    }

    /// Cancels the operation.
    ///
    /// The first completion of an operation wins, and a cancellation is one. An operation that already has its result
    /// keeps it. One that waits in its queue has its result, and its completions enqueued, when this returns, but stays
    /// in the queue until that starts it. Safe from any thread and at any time, also repeatedly.
    open override func cancel() {
        // The completion comes first: when `super` marks the operation ready, its queue may start it at once, and must
        // find it complete. The delivery comes last, so that an observer of the result also sees `isCancelled`.
        let action = transition(.complete)
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
        complete { makeCancellationResult() }
    }

    /// Passes the result to a completion: at once if there is one, otherwise when there is.
    // The completion retains the result, and not the operation: one that is never run has to be deallocated before its
    // completions are called.
    final func addResultHandler(_ completion: OperationCore.Completion) {
        if let result = core.withLock({ $0.add(completion) }) { completion(result) }
    }

    /// Completes the operation, unless it is already complete, with a result that is made outside of the lock.
    @inline(__always)
    @discardableResult
    final func complete(_ makeResult: () -> OperationCore.AnyResult?) -> Bool {
        guard transition(.complete) == .deliver else { return false }
        deliver(makeResult())
        return true
    }

    /// Completes the operation with a result that is there, unless it is already complete.
    @discardableResult
    final func complete(with result: OperationCore.AnyResult) -> Bool {
        let effects = core.withLock { core in
            core.lifecycle.handle(.complete) == .deliver ? core.complete(with: result) : nil
        }
        guard let effects else { return false }
        performEffects(effects)
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

    /// Reports an event to the features of the operation.
    final func report(_ event: @autoclosure () -> OperationEvent) {
        let observers = core.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        let event = event()
        for observer in observers { observer.observe(event) }
    }

    /// Reports a step to the features of the operation.
    final func report(_ step: OperationStep) {
        for observer in core.withLock({ $0.observers }) { observer.observe(step) }
    }

    /// Adds a feature, unless there is one of its type.
    ///
    /// - Parameters:
    ///   - observer: The feature.
    ///   - catchUp: Tells it what has happened so far, besides the result.
    /// - Returns: Whether it was added.
    @discardableResult
    final func add<Observer: OperationObserver>(_ observer: Observer, _ catchUp: () -> Void = {}) -> Bool {
        let (isAdded, result) = core.withLock { core in
            let isFirst = !core.observers.contains { $0 is Observer }
            if isFirst { core.observers.append(observer) }
            return (isFirst, core.result)
        }
        if isAdded { catchUp() }
        if isAdded, let result { observer.observe(.operationEnded(outcome(of: result))) }
        return isAdded
    }

    /// The feature of a type, if the operation has it.
    final func observer<Observer: OperationObserver>(_ type: Observer.Type = Observer.self) -> Observer? {
        core.withLock { core in core.observers.lazy.compactMap { $0 as? Observer }.first }
    }

    /// Makes the result of an operation that is cancelled, or ended without one; the base class has no results.
    func makeCancellationResult() -> OperationCore.AnyResult? { nil }

    /// The outcome, for the features of the operation; the base class has no results.
    func outcome(of result: OperationCore.AnyResult?) -> OperationEvent.Outcome { .cancelled }

    /// Called once, when there is a result, before anything else learns of it.
    func willDeliver(_ result: OperationCore.AnyResult?) {}

    /// Releases the resources of the work, after the completions are enqueued; called once.
    func didDeliver() {}

    /// Continues after the start was announced: executes the operation, or finishes it if it has its result.
    func startAnnounced() { advance(.announced) }

    /// Performs an action of the lifecycle.
    final func perform(_ action: OperationLifecycle.Action) {
        switch action {
        case .announce: startAnnounced()
        case .execute: execute()
        case .finish: announceEnd()
        case .none, .send, .deliver: break
        }
    }

    /// Stores the result, and does everything that follows from it.
    final func deliver(_ result: OperationCore.AnyResult?) {
        performEffects(core.withLock { $0.complete(with: result) })
    }

    /// Calls the completions, ends the run, and finishes unless something else has to come first.
    private func performEffects(_ effects: OperationCore.CompletionEffects) {
        let (result, observers) = (effects.result, effects.observers)
        willDeliver(result)
        // Before any monitor or completion gets the result: from then on, the run sends nothing.
        effects.run.stopTransfers()
        if !observers.isEmpty {
            let outcome = outcome(of: result)
            for observer in observers { observer.observe(.operationEnded(outcome)) }
        }
        if let result { effects.completions.call(with: result) }
        for observer in observers { observer.observe(.delivered) }
        didDeliver()
        endDelivery(of: result)
        // Last: the handlers of interceptors for the cancellation of their task may block, and wait for the end.
        effects.run.stopTask()
    }

    /// Calls the completions that have come in the meantime, and finishes unless something else has to come first.
    private func endDelivery(of result: OperationCore.AnyResult?) {
        while true {
            switch core.withLock({ $0.endDelivery() }) {
            case .call(let late): if let result { late.call(with: result) }
            case .over(let action, let awaitsStart):
                if awaitsStart { report(.completedUnstarted) }
                return perform(action)
            case .finished(let rest): return announce(rest)
            }
        }
    }

    /// Performs the effects of completing an operation that is being deallocated, without retaining it.
    final func performEffectsInDeinit(_ effects: OperationCore.CompletionEffects) {
        effects.run.stopTransfers()
        for observer in effects.observers { observer.observe(.operationEnded(.cancelled)) }
        if let result = effects.result { effects.completions.call(with: result) }
        for observer in effects.observers { observer.observe(.delivered) }
        effects.run.stopTask()
    }

    private func announceEnd() {
        willChangeValue(forKey: Self.isExecutingKey)
        willChangeValue(forKey: Self.isFinishedKey)
        announce(core.withLock { $0.finish() })
    }

    /// Announces that the operation is finished, and releases its dependencies.
    private func announce(_ rest: OperationCore.FinishEffects) {
        #if canImport(Darwin)
        // On other platforms, Foundation would only read the property, and do nothing.
        didChangeValue(forKey: Self.isExecutingKey)
        #endif
        didChangeValue(forKey: Self.isFinishedKey)
        for observer in rest.observers { observer.observe(.finished) }
        if rest.hasLinks { removeDependencies() }
    }

    // Strings rather than key paths, which swift-corelibs-foundation first compares slowly, and then converts to
    // strings.
    private static let isExecutingKey = "isExecuting"
    private static let isFinishedKey = "isFinished"

    // MARK: Dependencies

    /// Makes the operation wait for another.
    ///
    /// A dependency that would make the operation wait for itself isn't added; instead, the operation is completed with an error. If
    /// its kind has a result, that is an error of code `dependencyCycle` that names the path, and otherwise it is
    /// cancelled. The search uses no recursion; if no operation depends on this one yet, it skips what earlier calls
    /// have verified. A cycle that is closed later, by a plain operation or by another thread, is found while the
    /// operation waits.
    ///
    /// - Complexity: O(1) for an operation without dependents, else O(n) in the dependencies of `operation`.
    open override func addDependency(_ operation: Operation) {
        if let error = cycle(through: operation) { return refuse(error) }
        addVerifiedDependency(operation)
        report(.dependencyAdded(operation))
    }

    /// The error for an operation that would wait for itself if it depended on another; `nil` if it may depend on it.
    final func cycle(
        through operation: Operation,
        skipping isVerified: (Operation) -> Bool = { _ in false }
    ) -> RequestError? {
        let walk = DependencyWalk(
            from: [operation],
            throughAsynchronous: core.withLock { $0.links.isDependedUpon },
            skipping: isVerified
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
        if isFirst, !(self is OperationGate) { DeadlockDetector.shared.watch(self) }
    }

    /// Ends the operation with an error, if it is of a kind that has a result, and cancels it otherwise.
    ///
    /// It doesn't wait for its dependencies any more: they may wait for it.
    func refuse(_ error: RequestError) {
        cancel()
    }

    /// Lets the queue start an operation that has its result, whatever it depends on.
    final func ignoreDependencies() {
        super.cancel()
    }

    /// The name of the type, for graphs and errors.
    var displayType: String { String(describing: type(of: self)) }

    /// The request for errors: its tag, or its type and identifier.
    var displayRequest: String { displayType }

    /// Whether it is a group.
    var hasMembers: Bool { false }
}

extension Operation {
    /// Releases the dependencies of an operation that is over.
    ///
    /// Otherwise every operation of a chain would retain the one before it, and releasing the last would release all,
    /// each inside the other's deinitialiser, until the stack overflows. And on Linux, a dependency that isn't
    /// finished, because this operation was cancelled, keeps a pointer to it, and follows it later. It has to come
    /// after the end is announced: before it, every removal would make the queue look for work, and removing an
    /// unfinished dependency strands the operation.
    final func removeDependencies() {
        for dependency in dependencies.reversed() { removeDependency(dependency) }
    }

    /// Makes the queue to which the operation was just added check again whether it is ready.
    ///
    /// On Linux, a queue doesn't notice that the last dependency finishes while it adds an operation. It would leave
    /// the operation until something else happens: for ever, if it is the last one.
    package final func notifyQueueIfReady() {
        #if !canImport(Darwin)
        if !dependencies.isEmpty, isReady, !isExecuting, !isFinished { didChangeValue(forKey: "isReady") }
        #endif
    }
}

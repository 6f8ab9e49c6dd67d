// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that ends when its work does, rather than when `main` returns.
///
/// All operations of the library are asynchronous. This class implements the parts of an asynchronous `Operation` that
/// are hard to get right:
///
/// - One lock protects the entire state, and observers are notified outside of it.
/// - The operation finishes exactly once, and never before the queue has started it.
/// - A finished operation releases its dependencies.
///
/// To write an asynchronous operation, override ``execute()``, and call ``finish()`` from any thread when the work is
/// done:
///
/// ```swift
/// final class Ripen: AsynchronousOperation, @unchecked Sendable {
///     override func execute() {
///         DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.finish() }
///     }
/// }
/// ```
///
/// A cancellation ends the operation immediately, and frees its slot in the queue, although its work may still be
/// running. If that matters, override ``cancel()`` to stop the work, and call `super`.
///
/// The library never uses `completionBlock`, so you can.
// Sendable: a subclass of `Operation` must restate the conformance; the only addition here is one lock.
open class AsynchronousOperation: Operation, CustomReflectable, @unchecked Sendable {
    final let core = Locked(OperationCore())

    // Foundation keeps pointers to the dependents of an operation, and follows them when the operation finishes. A
    // dependent that is deallocated without having run must therefore remove its dependencies.
    deinit {
        // A request operation has already removed its dependencies in the `deinit` of `RequestOperation`.
        if !(self is AnyRequestOperation), core.withLock({ $0.links.hasDependencies }) { removeDependencies() }
    }

    // MARK: The state, for Operation

    /// Always true.
    public final override var isAsynchronous: Bool { true }

    /// Whether the queue has started the operation, and the operation isn't finished yet.
    public final override var isExecuting: Bool { core.withLock { $0.lifecycle.isExecuting } }

    /// Whether the operation is finished.
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
        // Foundation doesn't observe `isExecuting` here, so notifications would only acquire three locks to read the
        // property.
        let action = transition(.start)
        #endif
        perform(action)
    }

    /// Cancels the operation.
    ///
    /// An operation that already has its result keeps it. Otherwise, when this method returns, the cancellation is its
    /// result, and its completions are enqueued. An operation that waits in its queue stays there until the queue
    /// starts it. You can call this method from any thread, at any time, and repeatedly.
    open override func cancel() {
        // Complete first, because when `super` marks the operation as ready, its queue may start it immediately, and
        // must find it complete. Deliver last, so that an observer of the result also sees `isCancelled`.
        let action = transition(.complete)
        super.cancel()
        if action == .deliver { deliver(makeCancellationResult()) }
    }

    // MARK: For debugging

    /// A mirror of the name and the state, for `dump`.
    ///
    /// The mirror contains nothing else, because Foundation's part of an operation has pointers to other operations,
    /// which may be deallocated. On Linux, following them crashes the process. A subclass that overrides this property
    /// must not show the children of its ancestors either.
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

    /// Does the work, and ensures that ``finish()`` is called when the work is done.
    ///
    /// The base class finishes immediately.
    open func execute() {
        finish()
    }

    /// Ends the operation.
    ///
    /// Only the first call counts. A call before the start takes effect at the start.
    public final func finish() {
        complete { makeCancellationResult() }
    }

    /// Passes the result to a completion, either immediately or as soon as there is one.
    // A waiting completion doesn't retain the operation. An operation that never runs can therefore be deallocated, and
    // calls its completions then.
    final func addResultHandler(_ completion: OperationCore.Completion) {
        if let result = core.withLock({ $0.add(completion) }) { completion(result) }
    }

    /// Completes the operation, unless it is already complete, with a result that is created outside of the lock.
    @inline(__always)
    @discardableResult
    final func complete(_ makeResult: () -> OperationCore.AnyResult?) -> Bool {
        guard transition(.complete) == .deliver else { return false }
        deliver(makeResult())
        return true
    }

    /// Completes the operation with an existing result, unless the operation is already complete.
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

    /// Reports an event to the observers of the operation.
    final func report(_ event: @autoclosure () -> OperationEvent) {
        let observers = core.withLock { $0.observers }
        guard !observers.isEmpty else { return }
        let event = event()
        for observer in observers { observer.observe(event) }
    }

    /// Reports a step to the observers of the operation.
    final func report(_ step: OperationStep) {
        for observer in core.withLock({ $0.observers }) { observer.observe(step) }
    }

    /// Adds an observer, unless an observer of the same type is already attached.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - catchUp: Reports to the observer everything that has happened so far, except the result.
    /// - Returns: Whether the observer was added.
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

    /// Returns the observer of a type, if the operation has one.
    final func observer<Observer: OperationObserver>(_ type: Observer.Type = Observer.self) -> Observer? {
        core.withLock { core in core.observers.lazy.compactMap { $0 as? Observer }.first }
    }

    /// Creates the result of an operation that is cancelled, or ends without a result; the base class has no results.
    func makeCancellationResult() -> OperationCore.AnyResult? { nil }

    /// Returns the outcome for the observers of the operation; the base class has no results.
    func outcome(of result: OperationCore.AnyResult?) -> OperationEvent.Outcome { .cancelled }

    /// Called once when there is a result, before anything else is notified of it.
    func willDeliver(_ result: OperationCore.AnyResult?) {}

    /// Releases the resources of the work; called once, after the completions are enqueued.
    func didDeliver() {}

    /// Continues after observers were notified of the start: executes the operation, or finishes it if it already has
    /// its result.
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

    /// Stores the result, and performs all its effects.
    final func deliver(_ result: OperationCore.AnyResult?) {
        performEffects(core.withLock { $0.complete(with: result) })
    }

    /// Calls the completions, ends the run, and finishes the operation unless another step is pending.
    private func performEffects(_ effects: OperationCore.CompletionEffects) {
        let (result, observers) = (effects.result, effects.observers)
        willDeliver(result)
        // Stop the transfers before any monitor or completion gets the result, because nothing may be sent after that.
        effects.run.stopTransfers()
        if !observers.isEmpty {
            let outcome = outcome(of: result)
            for observer in observers { observer.observe(.operationEnded(outcome)) }
        }
        if let result { effects.completions.call(with: result) }
        for observer in observers { observer.observe(.delivered) }
        didDeliver()
        endDelivery(of: result)
        // Stop the task last, because the cancellation handlers of interceptors may block until the operation has
        // ended.
        effects.run.stopTask()
    }

    /// Calls the completions that were added in the meantime, and finishes the operation unless another step is
    /// pending.
    private func endDelivery(of result: OperationCore.AnyResult?) {
        while true {
            switch core.withLock({ $0.endDelivery() }) {
            case .call(let lateCompletions): if let result { lateCompletions.call(with: result) }
            case .over(let action, let awaitsStart):
                if awaitsStart { report(.completedUnstarted) }
                return perform(action)
            case .finished(let effects): return announce(effects)
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
    private func announce(_ effects: OperationCore.FinishEffects) {
        #if canImport(Darwin)
        // Apple platforms only: elsewhere, Foundation would just read the property and do nothing.
        didChangeValue(forKey: Self.isExecutingKey)
        #endif
        didChangeValue(forKey: Self.isFinishedKey)
        for observer in effects.observers { observer.observe(.finished) }
        if effects.hasLinks { removeDependencies() }
    }

    // Strings, because swift-corelibs-foundation compares key paths slowly, and then converts them to strings.
    private static let isExecutingKey = "isExecuting"
    private static let isFinishedKey = "isFinished"

    // MARK: Dependencies

    /// Makes the operation wait for another operation.
    ///
    /// If the operation would then wait for itself, the dependency isn't added. If the operation's class has results,
    /// the operation fails with the code `dependencyCycle`, and the message of the error contains the path. Otherwise,
    /// the operation is cancelled.
    ///
    /// The search doesn't recurse. If no operation depends on this operation yet, the search skips what earlier calls
    /// have verified. If a plain operation or another thread closes a cycle later, the cycle is found while the
    /// operation waits.
    ///
    /// - Complexity: O(1) for an operation without dependents, otherwise O(n) in the dependencies of `operation`.
    open override func addDependency(_ operation: Operation) {
        if let error = cycle(through: operation) { return refuse(error) }
        addVerifiedDependency(operation)
        report(.dependencyAdded(operation))
    }

    /// Returns an error if this operation would wait for itself after adding a dependency on `operation`; otherwise
    /// `nil`.
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
        for reached in walk.asynchronousOperations { reached.core.withLock { $0.links.isDependedUpon = true } }
        return nil
    }

    /// Adds a dependency on an operation that is known not to wait for this operation.
    final func addVerifiedDependency(_ operation: Operation) {
        // A finished operation doesn't wait, and the dependency would never be removed.
        guard !isFinished else { return }
        let isFirst = core.withLock { state in
            defer { state.links.hasDependencies = true }
            return !state.links.hasDependencies
        }
        super.addDependency(operation)
        if isFirst, !(self is OperationGate) { DeadlockDetector.shared.watch(self) }
    }

    /// Ends the operation with an error if its class has results, and cancels it otherwise.
    ///
    /// The operation no longer waits for its dependencies, because they may wait for it.
    func refuse(_ error: RequestError) {
        cancel()
    }

    /// Lets the queue start an operation that already has its result, without waiting for its dependencies.
    final func ignoreDependencies() {
        super.cancel()
    }

    /// The name of the type, for graphs and errors.
    var displayType: String { String(describing: type(of: self)) }

    /// The name of the request in errors: its tag, or its type and identifier.
    var displayRequest: String { displayType }

    /// Whether the operation is a group.
    var hasMembers: Bool { false }
}

extension Operation {
    /// Removes the dependencies of a finished operation.
    ///
    /// Without the removal, every operation of a chain would retain the previous operation. Releasing the last
    /// operation would then release all of them recursively, until the stack overflows. On Linux, an unfinished
    /// dependency of a cancelled operation would also keep a pointer to that operation, and follow it later.
    ///
    /// Call this method only after observers have been notified that the operation is finished. Before that, every
    /// removal would make the queue look for work, and after the removal of an unfinished dependency, the operation
    /// would never finish.
    final func removeDependencies() {
        for dependency in dependencies.reversed() { removeDependency(dependency) }
    }

    /// Makes the queue check again whether an operation that was just added is ready.
    ///
    /// On Linux, if the last dependency of an operation finishes while a queue adds the operation, the queue doesn't
    /// notice. The operation would then wait until something else happens in the queue, possibly forever.
    package final func notifyQueueIfReady() {
        #if !canImport(Darwin)
        if !dependencies.isEmpty, isReady, !isExecuting, !isFinished { didChangeValue(forKey: "isReady") }
        #endif
    }
}

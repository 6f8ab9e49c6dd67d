// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The variables of an operation: one struct behind one lock, for all classes of the operation's hierarchy.
///
/// It doesn't depend on the request's type, so it has a single layout, and its code needs no generic metadata.
struct OperationCore: Sendable {
    /// A result, in a ``Box`` whose type the operation knows.
    typealias AnyResult = any AnyObject & Sendable
    /// A receiver of the result: a closure, or a task that waits for it.
    enum Completion: Sendable {
        case call(@Sendable (AnyResult) -> Void)
        case resume(UnsafeContinuation<AnyResult, Never>)

        func callAsFunction(_ result: AnyResult) {
            switch self {
            case .call(let body): body(result)
            case .resume(let waiter): waiter.resume(returning: result)
            }
        }
    }

    var lifecycle = OperationLifecycle()
    var links = DependencyLinks()
    /// The features of the operation, which observe it; nearly always none.
    var observers: [any OperationObserver] = []
    /// The run of the request; unused by operations that send nothing.
    var run = RunState()
    private(set) var result: AnyResult?

    private var completions = Completions()
    /// Whether all completions have been called: until then, a new one is added behind the others.
    private var isDelivered = false

    /// The receivers of the result, in their order.
    struct Completions: Sendable {
        // There is nearly always one, for which a list would be wasteful.
        private var first: Completion?
        private var others: [Completion] = []

        var isEmpty: Bool { first == nil }

        mutating func add(_ completion: Completion) {
            if first == nil { first = completion } else { others.append(completion) }
        }

        mutating func takeAll() -> Completions {
            defer { self = Completions() }
            return self
        }

        func call(with result: AnyResult) {
            first?(result)
            for completion in others { completion(result) }
        }
    }

    /// What must be done outside of the lock when an operation is completed.
    struct CompletionEffects: Sendable {
        let result: AnyResult?
        let completions: Completions
        let observers: [any OperationObserver]
        let run: RunState.Cleanup
    }

    /// The end of a delivery.
    enum Ending: Sendable {
        /// More completions have come in the meantime, and are called too.
        case call(Completions)
        /// All effects have been performed; the operation may still have to be started.
        case over(OperationLifecycle.Action, awaitsStart: Bool)
        /// As before, and the operation is finished.
        case finished(FinishEffects)
    }

    /// What is left to do for a finished operation: to remove its links, and to notify its observers.
    struct FinishEffects: Sendable {
        let hasLinks: Bool
        let observers: [any OperationObserver]
    }

    /// Adds a completion; returns the result if the caller is to call it at once.
    mutating func add(_ completion: Completion) -> AnyResult? {
        if !isDelivered { completions.add(completion) }
        return isDelivered ? result : nil
    }

    /// Stores the result, which is the first.
    mutating func complete(with result: AnyResult?) -> CompletionEffects {
        self.result = result
        return CompletionEffects(
            result: result,
            completions: completions.takeAll(),
            observers: observers,
            run: run.end(cancellingTransfers: lifecycle.hasOpenTransfers)
        )
    }

    /// Records that the delivery is over, unless a completion is still to be called.
    mutating func endDelivery() -> Ending {
        guard completions.isEmpty else { return .call(completions.takeAll()) }
        isDelivered = true
        let action = lifecycle.handle(.delivered)
        #if !canImport(Darwin)
        // Only Apple's Foundation requires a notification before the change.
        if action == .finish { return .finished(finish()) }
        #endif
        return .over(action, awaitsStart: lifecycle.state == .completed(.start))
    }

    /// Finishes the operation, which depends on nothing any more.
    mutating func finish() -> FinishEffects {
        _ = lifecycle.handle(.finished)
        defer { links.hasDependencies = false }
        return FinishEffects(hasLinks: links.hasDependencies, observers: observers)
    }

    /// Whether an operation that is deallocated has to be completed: something waits for its result.
    var needsCompletion: Bool { result == nil && (!completions.isEmpty || !observers.isEmpty || run.hasWaitingTask) }
}

/// The relations of an operation in the graph.
struct DependencyLinks: Sendable {
    /// Whether other operations may depend on this one: only then can a new dependency close a cycle.
    var isDependedUpon = false
    /// Whether the operation depends on anything.
    var hasDependencies = false
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The mutable state of an operation: one struct behind one lock, shared by every class in the hierarchy.
///
/// The state doesn't depend on the request's type, so it has a single layout, and its code needs no generic metadata.
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
    /// The observers of the operation; nearly always none.
    var observers: [any OperationObserver] = []
    /// The run of the request; unused by operations that send nothing.
    var run = RunState()
    private(set) var result: AnyResult?

    private var completions = Completions()
    /// Whether all completions have been called; until then, new completions are appended.
    private var isDelivered = false

    /// The receivers of the result, in order.
    struct Completions: Sendable {
        // A single property for the first completion avoids an array, because there is nearly always only one.
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

    /// The effects of completing an operation, performed outside of the lock.
    struct CompletionEffects: Sendable {
        let result: AnyResult?
        let completions: Completions
        let observers: [any OperationObserver]
        let run: RunState.Cleanup
    }

    /// The next step when a result has been delivered.
    enum DeliveryEnd: Sendable {
        /// Call these completions, which were added in the meantime.
        case call(Completions)
        /// All effects have been performed; the operation may still await its start.
        case over(OperationLifecycle.Action, awaitsStart: Bool)
        /// All effects have been performed, and the operation is finished.
        case finished(FinishEffects)
    }

    /// The effects of finishing an operation: removing its dependencies, and notifying its observers.
    struct FinishEffects: Sendable {
        let hasLinks: Bool
        let observers: [any OperationObserver]
    }

    /// Adds a completion, or returns the result if the caller should call the completion immediately.
    mutating func add(_ completion: Completion) -> AnyResult? {
        if !isDelivered { completions.add(completion) }
        return isDelivered ? result : nil
    }

    /// Stores the first result.
    mutating func complete(with result: AnyResult?) -> CompletionEffects {
        self.result = result
        return CompletionEffects(
            result: result,
            completions: completions.takeAll(),
            observers: observers,
            run: run.end(cancellingTransfers: lifecycle.hasOpenTransfers)
        )
    }

    /// Records the end of the delivery, unless further completions must be called.
    mutating func endDelivery() -> DeliveryEnd {
        guard completions.isEmpty else { return .call(completions.takeAll()) }
        isDelivered = true
        let action = lifecycle.handle(.delivered)
        #if !canImport(Darwin)
        // Only Apple's Foundation requires a notification before the change.
        if action == .finish { return .finished(finish()) }
        #endif
        return .over(action, awaitsStart: lifecycle.state == .completed(.start))
    }

    /// Records that the operation is finished, and has no dependencies from now on.
    mutating func finish() -> FinishEffects {
        _ = lifecycle.handle(.finished)
        defer { links.hasDependencies = false }
        return FinishEffects(hasLinks: links.hasDependencies, observers: observers)
    }

    /// Whether an operation that is being deallocated must be completed, because something waits for its result.
    var needsCompletion: Bool { result == nil && (!completions.isEmpty || !observers.isEmpty || run.hasWaitingTask) }
}

/// The relations of an operation in the graph.
struct DependencyLinks: Sendable {
    /// Whether other operations may depend on this operation; otherwise, a new dependency can't close a cycle.
    var isDependedUpon = false
    /// Whether the operation depends on anything.
    var hasDependencies = false
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Queues an exclusive operation for its categories when its dependencies are finished.
///
/// The ticket holds the categories until the operation is finished or, unless it lasts until the end, has its result
/// before its start. The operation depends on the ``gate``, which opens when the operation is admitted. The operation's
/// queue therefore doesn't need to know about categories, and a waiting operation doesn't occupy a slot.
final class ExclusivityTicket: OperationObserver {
    /// Opens when the operation is admitted.
    let gate: OperationGate
    /// A helper that enqueues the operation when its dependencies are finished; `nil` if they were already finished.
    private let deferredEnqueue = Locked<Operation?>(nil)
    private let registration: Locked<Registration>
    private let categories: Set<RequestOptions.ExclusiveCategory>
    /// Whether the operation keeps its categories until it is finished, even if it gets its result before its start.
    private let lastsUntilEnd: Bool

    private enum Registration: Sendable {
        case none
        case registered(Int)
        case left
    }

    /// Creates the ticket of an operation that isn't in a queue yet.
    init(in categories: Set<RequestOptions.ExclusiveCategory>, after prerequisites: [Operation], untilEnd: Bool) {
        lastsUntilEnd = untilEnd
        let registration = Locked(Registration.none)
        let gate = OperationGate(after: prerequisites) {
            if case .registered(let id) = registration.withLock({ $0 }) { id } else { nil }
        }
        (self.gate, self.registration, self.categories) = (gate, registration, categories)
    }

    /// Returns whether the ticket is for all the given categories.
    func covers(_ others: Set<RequestOptions.ExclusiveCategory>) -> Bool { others.isSubset(of: categories) }

    /// Returns whether the two tickets have a category in common.
    func overlaps(_ other: ExclusivityTicket) -> Bool { !categories.isDisjoint(with: other.categories) }

    // An operation that is deallocated without having run must not delay others, so it leaves the queues. Its gate
    // stays closed, because opening the gate would notify the operation, which is already being deallocated.
    deinit {
        leaveQueues()
        // On Linux, an operation that became a dependency of `deferredEnqueue` after that had finished still has an
        // unowned pointer to it, and follows the pointer when it finishes itself. So remove such a dependency before
        // `deferredEnqueue` is deallocated.
        if let deferredEnqueue = deferredEnqueue.withLock({ $0 }), deferredEnqueue.isFinished {
            deferredEnqueue.removeDependencies()
        }
    }

    /// Enqueues the operation as soon as all its dependencies are finished.
    ///
    /// If they already are, the operation is enqueued immediately, that is, in the order in which operations are added.
    func enqueue(_ operation: Operation) {
        let prerequisites = gate.dependencies.filter { !$0.isFinished }
        guard !prerequisites.isEmpty else { return Self.enqueue(operation, gate, categories, registration) }
        let deferredEnqueue = BlockOperation { [categories, registration, weak operation, weak gate] in
            guard let operation, let gate else { return }
            Self.enqueue(operation, gate, categories, registration)
        }
        for prerequisite in prerequisites { deferredEnqueue.addDependency(prerequisite) }
        self.deferredEnqueue.withLock { $0 = deferredEnqueue }
        deferredEnqueue.runOnSeparateQueue()
    }

    /// Delays the enqueuing until another operation is finished, too; an enqueued operation keeps its position.
    func delay(until operation: Operation) {
        guard operation !== gate, !gate.isFinished else { return }
        guard let deferredEnqueue = deferredEnqueue.withLock({ $0 }), !deferredEnqueue.isFinished else { return }
        gate.addDependency(operation)
        deferredEnqueue.addDependency(operation)
    }

    /// Leaves the queues; a second call has no effect.
    func leave() {
        gate.open()
        leaveQueues()
    }

    private func leaveQueues() {
        let previous = registration.withLock { registration in
            defer { registration = .left }
            return registration
        }
        if case .registered(let id) = previous { ExclusivityRegistry.shared.leave(id) }
    }

    func observe(_ step: OperationStep) {
        switch step {
        case .dependencyAdded(let operation): delay(until: operation)
        // An operation with a result before its start has no work left, so it leaves the queues. Only an admitted
        // operation with `lastsUntilEnd` stays in them.
        case .completedUnstarted: if !lastsUntilEnd || !gate.isFinished { leave() }
        case .finished: leave()
        default: break
        }
    }

    private static func enqueue(
        _ operation: Operation,
        _ gate: OperationGate,
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ registration: Locked<Registration>
    ) {
        let entry = ExclusivityRegistry.Entry(operation: operation, gate: gate)
        let id = ExclusivityRegistry.shared.register(entry)
        let isLate = registration.withLock { registration in
            guard case .none = registration else { return true }
            registration = .registered(id)
            return false
        }
        guard !isLate else { return ExclusivityRegistry.shared.leave(id) }
        if ExclusivityRegistry.shared.enqueue(id, categories) { gate.open() }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The ticket of an exclusive operation, which queues for its categories from the end of its dependencies until its own
/// end.
///
/// The operation depends on the ``gate``, which opens when the operation is admitted. So its operation queue doesn't
/// know of categories, and a waiting operation takes no slot of it.
final class ExclusivityTicket: OperationObserver {
    /// Opens when the operation is admitted.
    let gate: OperationGate
    /// Enqueues the operation when all its dependencies are finished; `nil` if they already are.
    private let deferredEnqueue = Locked<Operation?>(nil)
    private let position: Locked<Position>
    private let categories: Set<RequestOptions.ExclusiveCategory>
    /// Whether an operation that has its result before its start keeps its categories until it is finished.
    private let lastsUntilEnd: Bool

    private enum Position: Sendable {
        case none
        case number(Int)
        case left
    }

    /// Creates the ticket of an operation that isn't on a queue yet; ``enqueue(_:)`` uses it.
    init(in categories: Set<RequestOptions.ExclusiveCategory>, after prerequisites: [Operation], untilEnd: Bool) {
        lastsUntilEnd = untilEnd
        let position = Locked(Position.none)
        let gate = OperationGate(after: prerequisites) {
            if case .number(let number) = position.withLock({ $0 }) { number } else { nil }
        }
        (self.gate, self.position, self.categories) = (gate, position, categories)
    }

    /// Whether the ticket is for all these categories.
    func covers(_ others: Set<RequestOptions.ExclusiveCategory>) -> Bool { others.isSubset(of: categories) }

    /// Whether both tickets are for a common category.
    func overlaps(_ other: ExclusivityTicket) -> Bool { !categories.isDisjoint(with: other.categories) }

    // An operation that is deallocated without having run delays no other. Its gate stays closed: opening it would
    // notify the operation, which is already being deallocated.
    deinit {
        leaveQueues()
        // On Linux, an operation that it was delayed after too late would follow a pointer to it.
        if let deferredEnqueue = deferredEnqueue.withLock({ $0 }), deferredEnqueue.isFinished { deferredEnqueue.removeDependencies() }
    }

    /// Enqueues the operation as soon as all its dependencies are finished; if they already are, at once, in the order
    /// in which operations are added.
    func enqueue(_ operation: Operation) {
        let prerequisites = gate.dependencies.filter { !$0.isFinished }
        guard !prerequisites.isEmpty else { return Self.enqueue(operation, gate, categories, position) }
        let deferredEnqueue = BlockOperation { [categories, position, weak operation, weak gate] in
            guard let operation, let gate else { return }
            Self.enqueue(operation, gate, categories, position)
        }
        for prerequisite in prerequisites { deferredEnqueue.addDependency(prerequisite) }
        self.deferredEnqueue.withLock { $0 = deferredEnqueue }
        deferredEnqueue.runOnSeparateQueue()
    }

    /// Waits until another operation is finished, too; an operation that is enqueued keeps its position.
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
        let previous = position.withLock { position in
            defer { position = .left }
            return position
        }
        if case .number(let number) = previous { ExclusivityRegistry.shared.leave(number) }
    }

    func observe(_ step: OperationStep) {
        switch step {
        // The operation is enqueued when all its dependencies are finished.
        case .dependencyAdded(let operation): delay(until: operation)
        // An operation that has its result before its start has nothing left to do.
        case .completedUnstarted: if !lastsUntilEnd || !gate.isFinished { leave() }
        case .finished: leave()
        default: break
        }
    }

    private static func enqueue(
        _ operation: Operation,
        _ gate: OperationGate,
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ position: Locked<Position>
    ) {
        let entry = ExclusivityRegistry.Entry(operation: operation, gate: gate)
        let number = ExclusivityRegistry.shared.register(entry)
        let isLate = position.withLock { position in
            guard case .none = position else { return true }
            position = .number(number)
            return false
        }
        guard !isLate else { return ExclusivityRegistry.shared.leave(number) }
        if ExclusivityRegistry.shared.enqueue(number, categories) { gate.open() }
    }
}

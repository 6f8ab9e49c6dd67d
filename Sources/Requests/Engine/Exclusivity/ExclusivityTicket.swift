// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Queues an exclusive operation for its categories when its dependencies are finished.
///
/// The ticket holds the categories until the operation is finished. The operation depends on the ``gate``, which opens
/// when the operation is admitted. Its operation queue therefore doesn't need to know about categories, and a waiting
/// operation doesn't occupy a slot.
final class ExclusivityTicket: OperationObserver {
    /// Opens when the operation is admitted.
    let gate: OperationGate
    /// The operation that enqueues the exclusive one when its dependencies are finished; `nil` if they already are.
    private let deferredEnqueue = Locked<Operation?>(nil)
    private let position: Locked<Position>
    private let categories: Set<RequestOptions.ExclusiveCategory>
    /// Whether the operation keeps its categories until it is finished, even if it has its result before its start.
    private let lastsUntilEnd: Bool

    private enum Position: Sendable {
        case none
        case number(Int)
        case left
    }

    /// Creates the ticket of an operation that isn't in a queue yet.
    init(in categories: Set<RequestOptions.ExclusiveCategory>, after prerequisites: [Operation], untilEnd: Bool) {
        lastsUntilEnd = untilEnd
        let position = Locked(Position.none)
        let gate = OperationGate(after: prerequisites) {
            if case .number(let number) = position.withLock({ $0 }) { number } else { nil }
        }
        (self.gate, self.position, self.categories) = (gate, position, categories)
    }

    /// Returns whether the ticket is for all the given categories.
    func covers(_ others: Set<RequestOptions.ExclusiveCategory>) -> Bool { others.isSubset(of: categories) }

    /// Returns whether both tickets have a common category.
    func overlaps(_ other: ExclusivityTicket) -> Bool { !categories.isDisjoint(with: other.categories) }

    // An operation that is deallocated without having run delays no other operation. Its gate stays closed, because
    // opening the gate would notify the operation, which is already being deallocated.
    deinit {
        leaveQueues()
        // On Linux, a dependency that was added after `deferredEnqueue` had finished would later follow a dangling
        // pointer.
        if let deferredEnqueue = deferredEnqueue.withLock({ $0 }), deferredEnqueue.isFinished {
            deferredEnqueue.removeDependencies()
        }
    }

    /// Enqueues the operation as soon as all its dependencies are finished.
    ///
    /// If they already are, the operation is enqueued immediately, that is, in the order in which operations are added.
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
        let previous = position.withLock { position in
            defer { position = .left }
            return position
        }
        if case .number(let number) = previous { ExclusivityRegistry.shared.leave(number) }
    }

    func observe(_ step: OperationStep) {
        switch step {
        case .dependencyAdded(let operation): delay(until: operation)
        // An operation with a result before its start has no work left, so it leaves. Only an admitted operation with
        // `lastsUntilEnd` stays.
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

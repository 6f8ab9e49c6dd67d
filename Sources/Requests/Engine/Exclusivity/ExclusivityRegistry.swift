// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The queues of all exclusive categories of the process.
///
/// An operation waits in the queues of all its categories, whatever operation queue it was added to.
final class ExclusivityRegistry: Sendable {
    static let shared = ExclusivityRegistry()

    /// An operation that waits or holds its categories; weak, because its owners decide about its end.
    struct Entry: Sendable {
        weak var operation: Operation?
        weak var gate: OperationGate?
    }

    private struct State {
        var table = ExclusivityTable()
        var entries: [Int: Entry] = [:]
        var lastNumber = 0
    }

    private let state = Locked(State())

    /// Returns a number for an operation that is about to be added.
    func register(_ entry: Entry) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = entry
            return state.lastNumber
        }
    }

    /// Adds an operation to its queues; returns whether it is admitted at once.
    func enqueue(_ number: Int, _ categories: Set<RequestOptions.ExclusiveCategory>) -> Bool {
        let priority = state.withLock { $0.entries[number] }?.operation?.queuePriority ?? .normal
        return state.withLock { state in
            guard state.entries[number] != nil else { return true }
            return state.table.enqueue(number, categories, priority: priority.rawValue)
        }
    }

    /// Removes an operation, and opens the gates of those that are admitted then.
    ///
    /// An operation is retained while its gate opens. Foundation notifies the dependents of the gate without
    /// retaining them, and this one may be cancelled and deallocated at the same moment; one that is already
    /// deallocated isn't notified.
    func leave(_ number: Int) {
        let next = state.withLock { state in
            state.entries[number] = nil
            return state.table.leave(number).compactMap { state.entries[$0] }
        }
        for entry in next {
            // Outside the lock: this may release the last reference to the operation.
            guard let operation = entry.operation else { continue }
            withExtendedLifetime(operation) { entry.gate?.open() }
        }
    }

    /// For each waiting operation, the numbers of those directly in front of it.
    func predecessors() -> [Int: [Int]] {
        // Sorted outside the lock, in a copy, because the queues may be long.
        state.withLock { $0.table }.predecessors()
    }

    /// The operations of some numbers that haven't left.
    func operations(_ numbers: [Int]) -> [Operation] {
        state.withLock { state in numbers.compactMap { state.entries[$0]?.operation } }
    }
}

/// The queues of exclusive categories at one moment, for a search or a graph.
///
/// - Complexity: To make it, O(n log n) in the number of waiting operations; to use it, O(1).
struct ExclusivitySnapshot {
    private let predecessors = ExclusivityRegistry.shared.predecessors()

    /// The operations that have to leave directly before a gate opens: one in each queue, unless it has left since.
    func operations(before gate: OperationGate) -> [Operation] {
        guard let numbers = gate.exclusivityNumber().flatMap({ predecessors[$0] }) else { return [] }
        return ExclusivityRegistry.shared.operations(numbers)
    }
}

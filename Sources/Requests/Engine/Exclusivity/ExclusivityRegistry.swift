// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The queues of all exclusive categories in the process.
///
/// An operation waits in the queues of all its categories, no matter which operation queue it was added to.
final class ExclusivityRegistry: Sendable {
    static let shared = ExclusivityRegistry()

    /// An operation that holds its categories or is queued for them.
    ///
    /// The references are weak, so the registry doesn't keep operations alive.
    struct Entry: Sendable {
        weak var operation: Operation?
        weak var gate: OperationGate?
    }

    private struct State {
        var table = ExclusivityTable()
        var entries: [Int: Entry] = [:]
        var lastID = 0
    }

    private let state = Locked(State())

    /// Registers an operation that will be enqueued, and returns its ID.
    func register(_ entry: Entry) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.entries[state.lastID] = entry
            return state.lastID
        }
    }

    /// Adds an operation to the queues of its categories, and returns whether it is admitted immediately.
    func enqueue(_ id: Int, _ categories: Set<RequestOptions.ExclusiveCategory>) -> Bool {
        let priority = state.withLock { $0.entries[id] }?.operation?.queuePriority ?? .normal
        return state.withLock { state in
            guard state.entries[id] != nil else { return true }
            return state.table.enqueue(id, categories, priority: priority.rawValue)
        }
    }

    /// Removes an operation, and opens the gates of the operations that are admitted next.
    ///
    /// Each admitted operation is retained while its gate opens: Foundation notifies the dependents of the gate without
    /// retaining them, and another thread may release the operation at the same moment. If the operation is already
    /// deallocated, its gate stays closed.
    func leave(_ id: Int) {
        let next = state.withLock { state in
            state.entries[id] = nil
            return state.table.leave(id).compactMap { state.entries[$0] }
        }
        for entry in next {
            // The loop runs outside of the lock, because it may release the last reference to an operation.
            guard let operation = entry.operation else { continue }
            withExtendedLifetime(operation) { entry.gate?.open() }
        }
    }

    /// Returns, for each waiting operation, the ID of its immediate predecessor in each of the queues that it waits in.
    func predecessors() -> [Int: [Int]] {
        // Copy the table, and sort the copy outside of the lock, because the queues may be long.
        state.withLock { $0.table }.predecessors()
    }

    /// Returns the operations with the given IDs, except those that are no longer in the queues.
    func operations(_ ids: [Int]) -> [Operation] {
        state.withLock { state in ids.compactMap { state.entries[$0]?.operation } }
    }
}

/// A snapshot of the queues of exclusive categories, for a search or a graph.
///
/// - Complexity: O(n log n) in the number of waiting operations to create it, and O(1) to use it.
struct ExclusivitySnapshot {
    private let predecessors = ExclusivityRegistry.shared.predecessors()

    /// Returns the operations that must be dequeued before a gate opens: in each queue, the gate's immediate
    /// predecessor.
    ///
    /// Operations that have been dequeued since the snapshot are omitted.
    func operations(before gate: OperationGate) -> [Operation] {
        guard let ids = gate.exclusivityID().flatMap({ predecessors[$0] }) else { return [] }
        return ExclusivityRegistry.shared.operations(ids)
    }
}

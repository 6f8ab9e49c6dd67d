// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The queues of the exclusive categories, each with at most one holder.
///
/// An operation is admitted to all its categories simultaneously, when it is the first in all their queues and none of
/// them has a holder. No operation holds one category while it waits for another category. Operations with only one of
/// the categories can't overtake an operation with several.
struct ExclusivityTable: Sendable {
    private struct Queue: Sendable {
        var holder: Int?
        var waiting = WaitQueue()
    }

    private var queues: [RequestOptions.ExclusiveCategory: Queue] = [:]
    /// The categories that each operation holds or waits for.
    private var categories: [Int: Set<RequestOptions.ExclusiveCategory>] = [:]
    private var priorities: [Int: Int] = [:]

    /// Whether the table has neither holders nor waiting operations.
    var isEmpty: Bool { queues.isEmpty && categories.isEmpty }

    /// Adds an operation, whose ID must be greater than all earlier IDs, and returns whether it is admitted
    /// immediately.
    mutating func enqueue(_ id: Int, _ requested: Set<RequestOptions.ExclusiveCategory>, priority: Int) -> Bool {
        categories[id] = requested
        priorities[id] = priority
        for category in requested {
            queues[category, default: Queue()].waiting.add(id, priority: priority)
        }
        return admit(id)
    }

    /// Removes an operation, and returns the operations that are admitted next.
    mutating func leave(_ id: Int) -> [Int] {
        guard let released = categories.removeValue(forKey: id) else { return [] }
        priorities[id] = nil
        for category in released {
            if queues[category]?.holder == id { queues[category]?.holder = nil }
            queues[category]?.waiting.remove(id)
            if let queue = queues[category], queue.holder == nil, queue.waiting.isEmpty { queues[category] = nil }
        }
        return released.compactMap { category in
            guard let next = queues[category]?.waiting.first, admit(next) else { return nil }
            return next
        }
    }

    /// Returns, for each waiting operation, the ID of its immediate predecessor in each of the queues that it waits in.
    ///
    /// - Complexity: O(n log n) in the number of waiting operations.
    func predecessors() -> [Int: [Int]] {
        var predecessors: [Int: Set<Int>] = [:]
        for queue in queues.values {
            var last = queue.holder
            for id in queue.waiting.ids.sorted(by: { sortKey($0) < sortKey($1) }) {
                if let last { predecessors[id, default: []].insert(last) }
                last = id
            }
        }
        return predecessors.mapValues { $0.sorted() }
    }

    private func sortKey(_ id: Int) -> (Int, Int) { (-(priorities[id] ?? 0), id) }

    private mutating func admit(_ id: Int) -> Bool {
        guard let requested = categories[id] else { return false }
        for category in requested {
            guard queues[category]?.holder == nil, queues[category]?.waiting.first == id else { return false }
        }
        for category in requested {
            _ = queues[category]?.waiting.popFirst()
            queues[category]?.holder = id
        }
        return true
    }
}

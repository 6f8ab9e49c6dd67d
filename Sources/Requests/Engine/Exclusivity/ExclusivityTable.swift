// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The queues of the categories: one for each, with one holder.
///
/// An operation is admitted to all its categories at once: when it is the first in all their queues, and none of them
/// is held. So no operation holds one category while it waits for another, and one with several categories isn't
/// overtaken by those with one of them.
struct ExclusivityTable: Sendable {
    private struct Queue: Sendable {
        var holder: Int?
        var waiting = WaitQueue()
    }

    private var queues: [RequestOptions.ExclusiveCategory: Queue] = [:]
    /// The categories of the operations that hold them or wait.
    private var categories: [Int: Set<RequestOptions.ExclusiveCategory>] = [:]
    private var priorities: [Int: Int] = [:]

    /// Whether no state is left.
    var isEmpty: Bool { queues.isEmpty && categories.isEmpty }

    /// Adds an operation, with a number that is larger than all before; returns whether it is admitted at once.
    mutating func enqueue(_ id: Int, _ joined: Set<RequestOptions.ExclusiveCategory>, priority: Int) -> Bool {
        categories[id] = joined
        priorities[id] = priority
        for category in joined {
            queues[category, default: Queue()].waiting.add(id, priority: priority)
        }
        return admit(id)
    }

    /// Removes an operation; returns those that are admitted then.
    mutating func leave(_ id: Int) -> [Int] {
        guard let left = categories.removeValue(forKey: id) else { return [] }
        priorities[id] = nil
        for category in left {
            if queues[category]?.holder == id { queues[category]?.holder = nil }
            queues[category]?.waiting.remove(id)
            if let queue = queues[category], queue.holder == nil, queue.waiting.isEmpty { queues[category] = nil }
        }
        return left.compactMap { category in
            guard let next = queues[category]?.waiting.first, admit(next) else { return nil }
            return next
        }
    }

    /// For each waiting operation, those directly in front of it: one in each of its queues.
    ///
    /// - Complexity: O(n log n) in the number of waiting operations.
    func predecessors() -> [Int: [Int]] {
        var predecessors: [Int: Set<Int>] = [:]
        for queue in queues.values {
            var last = queue.holder
            for id in queue.waiting.ids.sorted(by: { order($0) < order($1) }) {
                if let last { predecessors[id, default: []].insert(last) }
                last = id
            }
        }
        return predecessors.mapValues { $0.sorted() }
    }

    /// The sort key of the queues.
    private func order(_ id: Int) -> (Int, Int) { (-(priorities[id] ?? 0), id) }

    private mutating func admit(_ id: Int) -> Bool {
        guard let wanted = categories[id] else { return false }
        for category in wanted {
            guard queues[category]?.holder == nil, queues[category]?.waiting.first == id else { return false }
        }
        for category in wanted {
            _ = queues[category]?.waiting.popFirst()
            queues[category]?.holder = id
        }
        return true
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Values up to a total cost; the least recently used ones are evicted for new ones.
///
/// - Complexity: O(1) for all methods about one value.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A value with its neighbours: a list in an array, without a reference for each value.
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var cost: Int
        var newer: Int?
        var older: Int?
    }

    /// The maximum total cost.
    let limit: Int
    /// The present total cost.
    private(set) var cost = 0
    private var nodes: [Node?] = []
    private var vacant: [Int] = []
    private var positions: [Key: Int] = [:]
    private var newest: Int?
    private var oldest: Int?

    /// Makes an empty store; with a limit of 0 it stays empty.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// The number of values.
    var count: Int { positions.count }

    /// Whether there is a value, without using it.
    func contains(_ key: Key) -> Bool { positions[key] != nil }

    /// The values whose keys fulfil a condition, without using them.
    ///
    /// - Complexity: O(n) in the number of values.
    func values(where condition: (Key) -> Bool) -> [Key: Value] {
        var values: [Key: Value] = [:]
        for (key, position) in positions where condition(key) { values[key] = nodes[position]?.value }
        return values
    }

    /// The value of a key, which marks it as used.
    mutating func value(for key: Key) -> Value? {
        guard let position = positions[key], let node = nodes[position] else { return nil }
        if newest != position {
            unlink(position)
            link(position)
        }
        return node.value
    }

    /// Stores a value, which replaces the former one of the key.
    ///
    /// A value that costs more than a quarter of the limit isn't stored: it would evict too much.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        guard cost <= limit / 4 else { return }
        while self.cost + cost > limit, let oldest { remove(at: oldest) }
        let node = Node(key: key, value: value, cost: cost)
        let position = vacant.popLast() ?? nodes.count
        if position == nodes.count { nodes.append(node) } else { nodes[position] = node }
        positions[key] = position
        self.cost += cost
        link(position)
    }

    /// Removes a value, if there is one.
    mutating func remove(_ key: Key) {
        if let position = positions[key] { remove(at: position) }
    }

    /// Removes all values whose keys fulfil the condition.
    ///
    /// - Complexity: O(n) in the number of values.
    mutating func removeAll(where condition: (Key) -> Bool) {
        for (key, position) in positions where condition(key) { remove(at: position) }
    }

    /// Removes all values.
    mutating func removeAll() {
        self = LeastRecentlyUsed(limit: limit)
    }

    private mutating func remove(at position: Int) {
        guard let node = nodes[position] else { return }
        unlink(position)
        nodes[position] = nil
        vacant.append(position)
        positions[node.key] = nil
        cost -= node.cost
    }

    private mutating func link(_ position: Int) {
        nodes[position]?.older = newest
        nodes[position]?.newer = nil
        if let newest { nodes[newest]?.newer = position } else { oldest = position }
        newest = position
    }

    private mutating func unlink(_ position: Int) {
        guard let node = nodes[position] else { return }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A cache with a maximum total cost, which evicts the least recently used values first.
///
/// - Complexity: O(1) on average for all methods that access a single value.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let cost: Int
        /// The value of `useCount` at the last use.
        var lastUse: Int
    }

    /// The maximum total cost.
    let limit: Int
    /// The current total cost.
    private(set) var cost = 0
    private var entries: [Key: Entry] = [:]
    /// The log of uses, oldest first, in which only the last use of each key is current.
    private var uses = FIFO<(key: Key, use: Int)>()
    private var useCount = 0

    /// Creates an empty cache; with a limit of 0, it stays empty.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Returns whether there is a value for the key, without marking it as used.
    func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// Returns the values whose keys satisfy a condition, without marking them as used.
    ///
    /// - Complexity: O(n) in the number of values.
    func values(where condition: (Key) -> Bool) -> [Key: Value] {
        entries.filter { condition($0.key) }.mapValues(\.value)
    }

    /// Returns the keys that satisfy a condition, the least recently used first, without marking them as used.
    ///
    /// - Complexity: O(n log n) in the number of values.
    func keysByUse(where condition: (Key) -> Bool) -> [Key] {
        entries.filter { condition($0.key) }.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
    }

    /// Returns the value for a key, and marks it as used.
    mutating func value(for key: Key) -> Value? {
        guard let entry = entries[key] else { return nil }
        if entry.lastUse != useCount {
            let use = recordUse(of: key)
            entries[key]?.lastUse = use
        }
        return entry.value
    }

    /// Stores a value, replacing the previous value for the key.
    ///
    /// A value that costs more than a quarter of the limit isn't stored, because it would evict too many others.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        guard cost <= limit / 4 else { return }
        while self.cost + cost > limit, let oldest = uses.popFirst() {
            if entries[oldest.key]?.lastUse == oldest.use { remove(oldest.key) }
        }
        entries[key] = Entry(value: value, cost: cost, lastUse: recordUse(of: key))
        self.cost += cost
    }

    /// Removes the value for a key, if there is one.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }

    /// Removes all values whose keys satisfy the condition.
    ///
    /// - Complexity: O(n) in the number of values.
    mutating func removeAll(where condition: (Key) -> Bool) {
        for key in entries.keys where condition(key) { remove(key) }
    }

    /// Removes all values.
    mutating func removeAll() {
        self = LeastRecentlyUsed(limit: limit)
    }

    /// Records a use of a key, and returns the new value of `useCount`.
    private mutating func recordUse(of key: Key) -> Int {
        useCount += 1
        uses.append((key, useCount))
        // Compact the log when most of its uses are outdated.
        if uses.count > 2 * entries.count + 64 {
            uses = FIFO()
            for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                uses.append((key, entry.lastUse))
            }
            uses.append((key, useCount))
        }
        return useCount
    }
}

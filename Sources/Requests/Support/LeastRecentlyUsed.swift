// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Values up to a total cost; the least recently used ones are evicted for new ones.
///
/// - Complexity: O(1) on average for all methods about one value.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let cost: Int
        /// The number of the last use.
        var use: Int
    }

    /// The maximum total cost.
    let limit: Int
    /// The present total cost.
    private(set) var cost = 0
    private var entries: [Key: Entry] = [:]
    /// The keys in the order of their uses; only the last use of a key counts.
    private var uses = FIFO<(key: Key, use: Int)>()
    private var lastUse = 0

    /// Makes an empty store; with a limit of 0 it stays empty.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Whether there is a value, without using it.
    func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The values whose keys fulfil a condition, without using them.
    ///
    /// - Complexity: O(n) in the number of values.
    func values(where condition: (Key) -> Bool) -> [Key: Value] {
        entries.filter { condition($0.key) }.mapValues(\.value)
    }

    /// The keys that fulfil a condition, the least recently used first, without using them.
    ///
    /// - Complexity: O(n log n) in the number of values.
    func keysByUse(where condition: (Key) -> Bool) -> [Key] {
        entries.filter { condition($0.key) }.sorted { $0.value.use < $1.value.use }.map(\.key)
    }

    /// The value of a key, which marks it as used.
    mutating func value(for key: Key) -> Value? {
        guard let entry = entries[key] else { return nil }
        if entry.use != lastUse {
            let use = use(of: key)
            entries[key]?.use = use
        }
        return entry.value
    }

    /// Stores a value, which replaces the former one of the key.
    ///
    /// A value that costs more than a quarter of the limit isn't stored: it would evict too much.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        guard cost <= limit / 4 else { return }
        while self.cost + cost > limit, let oldest = uses.popFirst() {
            if entries[oldest.key]?.use == oldest.use { remove(oldest.key) }
        }
        entries[key] = Entry(value: value, cost: cost, use: use(of: key))
        self.cost += cost
    }

    /// Removes a value, if there is one.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }

    /// Removes all values whose keys fulfil the condition.
    ///
    /// - Complexity: O(n) in the number of values.
    mutating func removeAll(where condition: (Key) -> Bool) {
        for key in entries.keys where condition(key) { remove(key) }
    }

    /// Removes all values.
    mutating func removeAll() {
        self = LeastRecentlyUsed(limit: limit)
    }

    /// Records a use, and returns its number.
    private mutating func use(of key: Key) -> Int {
        lastUse += 1
        uses.append((key, lastUse))
        // Most of them are outdated.
        if uses.count > 2 * entries.count + 64 {
            uses = FIFO()
            for (key, entry) in entries.sorted(by: { $0.value.use < $1.value.use }) { uses.append((key, entry.use)) }
            uses.append((key, lastUse))
        }
        return lastUse
    }
}

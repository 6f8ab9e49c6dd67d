// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state that threads share when they use a cache: the records in memory, and the removals.
///
/// Files are read and written without a lock, and other threads may do the same meanwhile. A thread that returns from a
/// file therefore passes the state at its beginning, and learns whether its result is still valid.
struct CacheState: Sendable {
    private var memory: LeastRecentlyUsed<CacheKey, CacheRecord>
    private var removals = CacheRemovals()
    /// The number of bytes that may be written.
    var disk: DiskBudget

    /// The record in memory under a key, with the generation that a reader of its file passes back.
    struct Finding: Sendable {
        let record: CacheRecord?
        fileprivate let generation: Int
    }

    /// Begins with no records.
    init(memoryLimit: Int, diskLimit: Int = 0) {
        memory = LeastRecentlyUsed(limit: memoryLimit)
        disk = DiskBudget(limit: diskLimit)
    }

    /// The approximate byte count in memory.
    var memorySize: Int { memory.cost }

    /// The records in memory of a resource, without using them.
    func records(of resource: String) -> [CacheKey: CacheRecord] { memory.values { $0.resource == resource } }

    /// Looks for a record.
    mutating func find(_ key: CacheKey) -> Finding {
        Finding(record: memory.value(for: key), generation: removals.generation)
    }

    /// Takes a record into memory that was read from a file, after it wasn't found in memory.
    ///
    /// It isn't taken if there is one now, which is newer than the file, or if something was removed meanwhile, since
    /// the file may be one that was to be removed.
    mutating func take(_ record: CacheRecord, for key: CacheKey, after finding: Finding) {
        guard removals.generation == finding.generation, !memory.contains(key) else { return }
        memory.insert(record, for: key, cost: record.cost)
    }

    /// Takes records of a response into memory; returns `false` if it became outdated since it was requested.
    mutating func keep(_ records: [(CacheKey, CacheRecord)], askedAt time: Date, now: Date) -> Bool {
        guard !records.contains(where: { removals.outdate($0.0.resource, askedAt: time, now: now) }) else {
            return false
        }
        for (key, record) in records { memory.insert(record, for: key, cost: record.cost) }
        return true
    }

    /// Removes the record of a key.
    mutating func forget(_ key: CacheKey) {
        memory.remove(key)
    }

    /// Removes all records of a resource.
    mutating func remove(_ resource: String, at now: Date) {
        removals.note(resource, at: now)
        memory.removeAll { $0.resource == resource }
    }

    /// Removes all records.
    mutating func removeAll(at now: Date) {
        removals.noteAll(at: now)
        memory.removeAll()
    }
}

/// The recent removals, so that a response that was requested before one isn't stored after it.
///
/// Otherwise, the answer to a request that was on its way when a user logged out, or changed its resource, would arrive
/// later, be stored, and be used again.
struct CacheRemovals: Sendable {
    /// The number of removals: a record that was read from a file before one must not be put in memory after it.
    private(set) var generation = 0
    private var everything: Date?
    private var resources: [String: Date] = [:]

    /// Records that a resource was removed.
    mutating func note(_ resource: String, at now: Date) {
        generation += 1
        resources[resource] = now
        guard resources.count > Self.limit else { return }
        // Without the individual resources, only the responses of running requests aren't stored.
        everything = resources.values.reduce(everything ?? .distantPast, max)
        resources = [:]
    }

    /// Records that everything was removed.
    mutating func noteAll(at now: Date) {
        generation += 1
        everything = now
        resources = [:]
    }

    /// Whether the answer to a request from that time may be outdated.
    ///
    /// A removal in the future was recorded before the clock was set back, and is ignored.
    func outdate(_ resource: String, askedAt time: Date, now: Date) -> Bool {
        [everything, resources[resource]].contains { removal in
            removal.map { time < $0 && $0 <= now } ?? false
        }
    }

    private static let limit = 1000
}

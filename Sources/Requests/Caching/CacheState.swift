// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state of a cache: the records in memory, and the sequence numbers of the latest removals.
///
/// Threads share this state under a lock. Files are read and written without a lock, so other threads may access them
/// at the same time. To detect races, removals are numbered. A request remembers the number of the last removal when it
/// starts to use the cache, and passes the number back with the records that it has read or received. If there was a
/// removal in the meantime, these records aren't stored, because they may be outdated.
struct CacheState: Sendable {
    private var memory: LeastRecentlyUsed<CacheKey, CacheRecord>
    /// The number of the last removal.
    private(set) var lastRemoval = 0
    /// The number of each resource's last removal, up to a limited number of resources.
    private var removals: [String: Int] = [:]
    /// The number of the last removal of all records.
    private var lastRemovalOfAll = 0
    /// The number of bytes that may be written before the size of the directory must be determined again.
    var remainingRoom = 0

    /// Creates a state without records.
    init(memoryLimit: Int) {
        memory = LeastRecentlyUsed(limit: memoryLimit)
    }

    /// The approximate size of the records in memory, in bytes.
    var memorySize: Int { memory.cost }

    /// Returns the records of a resource in memory, without marking them as used.
    func records(of resource: String) -> [CacheKey: CacheRecord] { memory.values { $0.resource == resource } }

    /// Returns the record of a key if it is in memory, and marks it as used.
    mutating func find(_ key: CacheKey) -> CacheRecord? { memory.value(for: key) }

    /// Inserts a record that was read from a file into memory.
    ///
    /// The record isn't inserted if memory already contains a record of the key, which is newer than the file, or if
    /// anything was removed in the meantime.
    mutating func insertFromDisk(_ record: CacheRecord, for key: CacheKey, since removal: Int) {
        guard lastRemoval == removal, !memory.contains(key) else { return }
        memory.insert(record, for: key, cost: record.cost)
    }

    /// Inserts the records of a response into memory.
    ///
    /// If their resource was removed in the meantime, the method returns `false` without inserting them. So a late
    /// response isn't stored after its user has logged out, and an outdated response isn't stored after a change to the
    /// resource.
    mutating func insert(_ records: [(CacheKey, CacheRecord)], since removal: Int) -> Bool {
        guard records.allSatisfy({ max(lastRemovalOfAll, removals[$0.0.resource] ?? 0) <= removal }) else {
            return false
        }
        for (key, record) in records { memory.insert(record, for: key, cost: record.cost) }
        return true
    }

    /// Reserves space for a file; returns `false` if there isn't enough.
    mutating func reserveRoom(for bytes: Int) -> Bool {
        guard bytes <= remainingRoom else { return false }
        remainingRoom -= bytes
        return true
    }

    mutating func forget(_ key: CacheKey) {
        memory.remove(key)
    }

    /// Removes a user's oldest variants of a resource if there are too many.
    ///
    /// - Complexity: O(n) in the number of records.
    mutating func limitVariants(of key: CacheKey) {
        let keys = memory.keysByUse { $0.resource == key.resource && $0.user == key.user }
        for key in CacheKey.surplus(of: keys) { memory.remove(key) }
    }

    /// Removes all records of a resource.
    mutating func remove(_ resource: String) {
        lastRemoval += 1
        removals[resource] = lastRemoval
        memory.removeAll { $0.resource == resource }
        guard removals.count > Self.maximumRemovals else { return }
        // Forget the numbers of individual resources; responses to running requests then aren't stored.
        (lastRemovalOfAll, removals) = (lastRemoval, [:])
    }

    mutating func removeAll() {
        lastRemoval += 1
        (lastRemovalOfAll, removals) = (lastRemoval, [:])
        memory.removeAll()
    }

    private static let maximumRemovals = 1000
}

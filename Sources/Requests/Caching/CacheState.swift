// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state that threads share when they use a cache: the records in memory, and the removals.
///
/// Files are read and written without a lock, and other threads may do the same meanwhile. Removals are therefore
/// numbered. A request notes the number of the last one when it begins to use the cache, and passes it back with what
/// it has read or received. If a removal came in between, the response isn't stored: it may be one that was to be
/// removed.
struct CacheState: Sendable {
    private var memory: LeastRecentlyUsed<CacheKey, CacheRecord>
    /// The number of the last removal.
    private(set) var lastRemoval = 0
    /// The numbers of the last removals, by resource, up to a limit.
    private var removals: [String: Int] = [:]
    /// The number of the last removal of everything.
    private var lastRemovalOfAll = 0
    /// The number of bytes that may be written before the size of the directory has to be determined again.
    var room = 0

    /// Begins with no records.
    init(memoryLimit: Int) {
        memory = LeastRecentlyUsed(limit: memoryLimit)
    }

    /// The approximate byte count in memory.
    var memorySize: Int { memory.cost }

    /// The records in memory of a resource, without using them.
    func records(of resource: String) -> [CacheKey: CacheRecord] { memory.values { $0.resource == resource } }

    /// Looks for a record.
    mutating func find(_ key: CacheKey) -> CacheRecord? { memory.value(for: key) }

    /// Takes a record into memory that was read from a file, after it wasn't found in memory.
    ///
    /// It isn't taken if there is one now, which is newer than the file, or if anything was removed since.
    mutating func take(_ record: CacheRecord, for key: CacheKey, since removal: Int) {
        guard lastRemoval == removal, !memory.contains(key) else { return }
        memory.insert(record, for: key, cost: record.cost)
    }

    /// Takes records of a response into memory; returns `false` if it may be outdated, since its resource was removed.
    ///
    /// Otherwise, the answer to a request that was on its way when a user logged out, or changed its resource, would
    /// arrive later, be stored, and be used again.
    mutating func keep(_ records: [(CacheKey, CacheRecord)], since removal: Int) -> Bool {
        guard records.allSatisfy({ max(lastRemovalOfAll, removals[$0.0.resource] ?? 0) <= removal }) else {
            return false
        }
        for (key, record) in records { memory.insert(record, for: key, cost: record.cost) }
        return true
    }

    /// Takes bytes of the room for files; returns `false` if it isn't large enough.
    mutating func takeRoom(for bytes: Int) -> Bool {
        guard bytes <= room else { return false }
        room -= bytes
        return true
    }

    /// Removes the record of a key.
    mutating func forget(_ key: CacheKey) {
        memory.remove(key)
    }

    /// Removes the oldest variants of a user, if there are too many.
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
        guard removals.count > Self.limit else { return }
        // Without the individual resources, no responses of running requests are stored.
        (lastRemovalOfAll, removals) = (lastRemoval, [:])
    }

    /// Removes all records.
    mutating func removeAll() {
        lastRemoval += 1
        (lastRemovalOfAll, removals) = (lastRemoval, [:])
        memory.removeAll()
    }

    private static let limit = 1000
}

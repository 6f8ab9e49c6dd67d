// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What the threads that use a cache share: what is in memory, and what was removed.
///
/// Files are read and written without a lock, and others may do the same meanwhile. So whoever comes back from a file
/// says when it began, and learns whether what it brings still counts.
struct CacheState: Sendable {
    private var memory: LeastRecentlyUsed<CacheKey, CacheRecord>
    private var removals = CacheRemovals()
    /// The cookies that identify no user of their own; `nil` until they are read.
    private(set) var aliases: CookieAliases?
    /// How much may be written.
    var disk: DiskBudget

    /// What is in memory under a key, and what a reader brings back who goes to look for a file.
    struct Finding: Sendable {
        let record: CacheRecord?
        fileprivate let generation: Int
    }

    /// Begins with nothing.
    init(memoryLimit: Int, diskLimit: Int = 0) {
        memory = LeastRecentlyUsed(limit: memoryLimit)
        disk = DiskBudget(limit: diskLimit)
    }

    /// How many bytes are in memory, about.
    var memorySize: Int { memory.cost }

    /// Takes the cookies that were read, unless they are there by now; returns those that count.
    mutating func take(_ read: CookieAliases) -> CookieAliases {
        let present = aliases ?? read
        aliases = present
        return present
    }

    /// Changes the cookies that identify no user of their own; returns them if that has changed anything.
    mutating func changeAliases(_ change: (inout CookieAliases) -> Void) -> CookieAliases? {
        let former = aliases ?? CookieAliases()
        var present = former
        change(&present)
        aliases = present
        return present == former ? nil : present
    }

    /// The records in memory of a resource, without using them.
    func records(of resource: String) -> [CacheKey: CacheRecord] { memory.values { $0.resource == resource } }

    /// Looks for a record.
    mutating func find(_ key: CacheKey) -> Finding {
        Finding(record: memory.value(for: key), generation: removals.generation)
    }

    /// Takes a record into memory that was read from a file, after it wasn't found.
    ///
    /// Not where there is one now, which is newer than the file; and not where something was removed meanwhile, since
    /// the file may be what was to be removed.
    mutating func take(_ record: CacheRecord, for key: CacheKey, after finding: Finding) {
        guard removals.generation == finding.generation, !memory.contains(key) else { return }
        memory.insert(record, for: key, cost: record.cost)
    }

    /// Takes records of a response into memory, or says that it is outdated since it was asked for.
    mutating func keep(_ records: [(CacheKey, CacheRecord)], askedAt time: Date, now: Date) -> Bool {
        guard !records.contains(where: { removals.outdate($0.0.resource, askedAt: time, now: now) }) else {
            return false
        }
        for (key, record) in records { memory.insert(record, for: key, cost: record.cost) }
        return true
    }

    /// Removes what is under a key.
    mutating func forget(_ key: CacheKey) {
        memory.remove(key)
    }

    /// Removes everything about some resources.
    mutating func remove(_ resources: Set<String>, at now: Date) {
        removals.note(resources, at: now)
        memory.removeAll { resources.contains($0.resource) }
    }

    /// Removes everything.
    mutating func removeAll(at now: Date) {
        removals.noteAll(at: now)
        aliases = CookieAliases()
        memory.removeAll()
    }
}

/// What was removed lately, so that a response that was asked for before isn't kept afterwards.
///
/// Without that, the answer to a request that was on its way when a user logged out, or changed what it is about, would
/// come in, be kept, and be shown again.
struct CacheRemovals: Sendable {
    /// Counts removals: what was read from a file before one must not be put in memory after it.
    private(set) var generation = 0
    private var everything: Date?
    private var resources: [String: Date] = [:]

    /// Notes that these resources were removed.
    mutating func note(_ removed: Set<String>, at now: Date) {
        generation += 1
        for resource in removed { resources[resource] = now }
        guard resources.count > Self.limit else { return }
        // Forgetting which it were costs requests that are under way now their place, and no other.
        everything = resources.values.reduce(everything ?? .distantPast, max)
        resources = [:]
    }

    /// Notes that everything was removed.
    mutating func noteAll(at now: Date) {
        generation += 1
        everything = now
        resources = [:]
    }

    /// Whether the answer to a request of that time may be outdated.
    ///
    /// A removal in the future is one before the clock was set back, and no longer says anything.
    func outdate(_ resource: String, askedAt time: Date, now: Date) -> Bool {
        [everything, resources[resource]].contains { removal in
            removal.map { time < $0 && $0 <= now } ?? false
        }
    }

    private static let limit = 1000
}

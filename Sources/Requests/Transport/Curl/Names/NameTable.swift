// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The state of a ``HostResolver``: the cached addresses, the pending and running lookups, and their queries.
///
/// The type has no side effects. It decides which names workers look up, and how many workers there are.
struct NameTable: Sendable {
    /// The cached addresses of a name.
    enum Lookup: Hashable, Sendable {
        /// The addresses are fresh.
        case fresh([String])
        /// The addresses have expired, and are being refreshed.
        case stale([String])
        /// No addresses are cached; the name is being looked up.
        case pending
    }

    private struct LookupState {
        var queries: [HostQuery] = []
        /// Whether the lookup must run even without queries, to refresh the cache.
        var refreshesCache = false

        var isNeeded: Bool { refreshesCache || !queries.isEmpty }

        mutating func add(_ query: HostQuery?) {
            if let query { queries.append(query) } else { refreshesCache = true }
        }
    }

    private struct Entry {
        let addresses: [String]
        let lookupTime: UInt64
    }

    /// The lifetime of addresses in nanoseconds; libcurl has the same default.
    ///
    /// The system doesn't report the actual lifetime (TTL).
    static let addressLifetime: UInt64 = 60 * 1_000_000_000
    /// The maximum number of cached names.
    private static let maximumNames = 1_024
    /// The default maximum numbers of concurrent lookups with waiting requests, and of all concurrent lookups.
    static let (maximumAwaited, maximumWorkers) = (16, 64)

    private let maximumAwaited: Int
    private let maximumWorkers: Int
    private var workers = 0
    private var cache: [String: Entry] = [:]
    /// The running lookups, each in a worker.
    private var running: [String: LookupState] = [:]
    /// The lookups that haven't begun.
    private var pending: [String: LookupState] = [:]
    /// The names of the pending lookups in order of arrival; names of cancelled lookups are skipped.
    private var queue = FIFO<String>()

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - maximumAwaited: The maximum number of concurrent lookups with waiting requests.
    ///   - maximumWorkers: The maximum number of concurrent lookups.
    init(maximumAwaited: Int, maximumWorkers: Int) {
        self.maximumAwaited = maximumAwaited
        self.maximumWorkers = maximumWorkers
    }

    /// Returns the cached addresses of a name, and enqueues a lookup unless they are fresh.
    ///
    /// - Returns: The cached addresses, and whether the caller must start another worker.
    mutating func lookUp(_ name: String, _ query: HostQuery?, now: UInt64) -> (Lookup, startsWorker: Bool) {
        let entry = cache[name]
        if let entry, now &- entry.lookupTime < Self.addressLifetime { return (.fresh(entry.addresses), false) }
        let lookup = entry.map { Lookup.stale($0.addresses) } ?? .pending
        if running[name] != nil {
            running[name]?.add(query)
            return (lookup, false)
        }
        if pending[name] == nil { queue.append(name) }
        pending[name, default: LookupState()].add(query)
        return (lookup, addWorkerIfNeeded())
    }

    /// Cancels a query; returns whether the caller must start another worker.
    mutating func cancel(_ query: HostQuery) -> Bool {
        let name = query.name
        if running[name] != nil {
            running[name]?.queries.removeAll { $0 == query }
            return addWorkerIfNeeded()
        }
        pending[name]?.queries.removeAll { $0 == query }
        if pending[name]?.isNeeded == false { pending[name] = nil }
        return false
    }

    /// Returns the next name for a worker; removes the worker and returns `nil` if it is no longer needed.
    mutating func next() -> String? {
        // Stop this worker if the limit is exceeded. That happens if a new request waits for an abandoned lookup.
        while workers - abandonedCount <= maximumAwaited, let name = queue.popFirst() {
            guard let lookUp = pending.removeValue(forKey: name) else { continue }
            running[name] = lookUp
            return name
        }
        workers -= 1
        return nil
    }

    /// Records the result of a lookup; returns the queries that must receive it.
    mutating func finish(_ name: String, _ found: HostResolver.LookupResult, now: UInt64) -> [HostQuery] {
        if case .success(let addresses) = found {
            cache[name] = Entry(addresses: addresses, lookupTime: now)
            if cache.count > Self.maximumNames { forgetOldest(now: now) }
        }
        return running.removeValue(forKey: name)?.queries ?? []
    }

    /// Removes addresses from the cache, unless the name already has other addresses.
    mutating func forget(_ addresses: [String], of name: String) {
        if cache[name]?.addresses == addresses { cache[name] = nil }
    }

    /// Removes a worker that couldn't be started; returns the queries that fail if it was the only worker.
    mutating func removeFailedWorker() -> [HostQuery] {
        workers -= 1
        guard workers == 0 else { return [] }
        defer { (pending, queue) = ([:], FIFO()) }
        return pending.values.flatMap(\.queries)
    }

    /// The number of running lookups without waiting requests, that is, abandoned lookups and refreshes of the cache.
    private var abandonedCount: Int { running.values.count { $0.queries.isEmpty } }

    /// Adds a worker if one is needed and allowed; returns whether a worker was added.
    private mutating func addWorkerIfNeeded() -> Bool {
        let starting = workers - running.count
        guard pending.count > starting, workers < maximumWorkers, workers - abandonedCount < maximumAwaited else {
            return false
        }
        workers += 1
        return true
    }

    private mutating func forgetOldest(now: UInt64) {
        cache = cache.filter { now &- $0.value.lookupTime < Self.addressLifetime }
        while cache.count > Self.maximumNames,
            let oldest = cache.min(by: { $0.value.lookupTime < $1.value.lookupTime })
        {
            cache[oldest.key] = nil
        }
    }
}
#endif

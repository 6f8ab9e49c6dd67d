// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The names to look up, the waiting queries, and the results; without the look-ups themselves.
struct NameTable: Sendable {
    /// The known addresses of a name.
    enum Lookup: Hashable, Sendable {
        /// Addresses that may be used.
        case fresh([String])
        /// Addresses that have expired; they are looked up again.
        case stale([String])
        /// No addresses: the name is being looked up.
        case pending
    }

    private struct PendingLookup {
        var queries: [HostQuery] = []
        /// Whether known addresses are to be renewed, even if no request waits.
        var isRenewal = false

        var isNeeded: Bool { isRenewal || !queries.isEmpty }

        mutating func add(_ query: HostQuery?) {
            if let query { queries.append(query) } else { isRenewal = true }
        }
    }

    private struct Entry {
        let addresses: [String]
        let time: UInt64
    }

    /// The lifetime of addresses, in nanoseconds: the same as in libcurl.
    ///
    /// The system doesn't report their actual lifetime.
    static let lifetime: UInt64 = 60 * 1_000_000_000
    /// The maximum number of stored names.
    private static let mostNames = 1_024
    /// The maximum number of concurrent look-ups with waiting requests, and of all.
    static let (maximumAwaited, maximumWorkers) = (16, 64)

    private let maximumAwaited: Int
    private let maximumWorkers: Int
    private var workers = 0
    private var known: [String: Entry] = [:]
    /// The look-ups of workers.
    private var underWay: [String: PendingLookup] = [:]
    /// The look-ups to begin.
    private var waiting: [String: PendingLookup] = [:]
    /// The names to look up, in their order; one that no longer waits is skipped.
    private var line = FIFO<String>()

    /// - Parameters:
    ///   - maximumAwaited: The maximum number of concurrent look-ups with waiting requests.
    ///   - maximumWorkers: The maximum number of concurrent look-ups.
    init(maximumAwaited: Int, maximumWorkers: Int) {
        self.maximumAwaited = maximumAwaited
        self.maximumWorkers = maximumWorkers
    }

    /// Returns the known addresses of a name, and begins a look-up if necessary.
    ///
    /// - Returns: The known addresses, and whether another worker is needed.
    mutating func lookUp(_ name: String, _ query: HostQuery?, now: UInt64) -> (Lookup, startsWorker: Bool) {
        let entry = known[name]
        if let entry, now &- entry.time < Self.lifetime { return (.fresh(entry.addresses), false) }
        let answer = entry.map { Lookup.outdated($0.addresses) } ?? .pending
        if underWay[name] != nil {
            underWay[name]?.add(query)
            return (answer, false)
        }
        if waiting[name] == nil { line.append(name) }
        waiting[name, default: PendingLookup()].add(query)
        return (answer, hire())
    }

    /// Withdraws a query; returns whether another worker is needed.
    mutating func cancel(_ query: HostQuery) -> Bool {
        let name = query.name
        if underWay[name] != nil {
            underWay[name]?.queries.removeAll { $0 == query }
            return hire()
        }
        waiting[name]?.queries.removeAll { $0 == query }
        if waiting[name]?.isNeeded == false { waiting[name] = nil }
        return false
    }

    /// Returns the name to look up next; `nil` if the worker isn't needed any more, and was removed.
    mutating func next() -> String? {
        // Abandoned look-ups may have waiting requests again, and exceed the limit.
        while workers - abandoned <= maximumAwaited, let name = line.popFirst() {
            guard let lookUp = waiting.removeValue(forKey: name) else { continue }
            underWay[name] = lookUp
            return name
        }
        workers -= 1
        return nil
    }

    /// Records the result of a look-up; returns the queries that it answers.
    mutating func finish(_ name: String, _ found: HostResolver.LookupResult, now: UInt64) -> [HostQuery] {
        if case .success(let addresses) = found {
            known[name] = Entry(addresses: addresses, time: now)
            if known.count > Self.mostNames { forgetOldest(now: now) }
        }
        return underWay.removeValue(forKey: name)?.queries ?? []
    }

    /// Forgets a name, unless it has other addresses by now.
    mutating func forget(_ addresses: [String], of name: String) {
        if known[name]?.addresses == addresses { known[name] = nil }
    }

    /// Removes a worker that couldn't be started; returns the queries that are left without one.
    mutating func removeFailedWorker() -> [HostQuery] {
        workers -= 1
        guard workers == 0 else { return [] }
        defer { (waiting, line) = ([:], FIFO()) }
        return waiting.values.flatMap(\.queries)
    }

    /// The number of running look-ups without waiting requests, because they were abandoned, or renew known addresses.
    private var abandoned: Int { underWay.values.count { $0.queries.isEmpty } }

    /// Adds a worker if one is needed and allowed; returns whether it did.
    private mutating func hire() -> Bool {
        let starting = workers - underWay.count
        guard waiting.count > starting, workers < maximumWorkers, workers - abandoned < maximumAwaited else { return false }
        workers += 1
        return true
    }

    private mutating func forgetOldest(now: UInt64) {
        known = known.filter { now &- $0.value.time < Self.lifetime }
        while known.count > Self.mostNames, let oldest = known.min(by: { $0.value.time < $1.value.time }) {
            known[oldest.key] = nil
        }
    }
}
#endif

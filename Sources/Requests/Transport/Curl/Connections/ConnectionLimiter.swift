// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Limits the number of connections, in total and per host, by assigning slots to transfers in order of arrival.
///
/// libcurl has such limits as well, but it would start waiting transfers in no particular order, and their timeouts
/// would run during the wait.
///
/// A transfer occupies a connection until its host is known to multiplex connections (RFC 9113, 5). From then on, up to
/// 100 transfers share a connection, except transfers that require an exclusive one.
///
/// If a connection attempt fails and the host has no other connection, no more of its transfers are admitted until one
/// of the running attempts succeeds, or all have failed. If all fail, the queued transfers fail as well, because
/// otherwise, each would in turn wait for the same error.
struct ConnectionLimiter<ID: Hashable & Sendable, Name: Hashable & Sendable>: Sendable {
    // The number identifies the entry, because IDs may be reused, as object identifiers are.
    private struct QueuedTransfer: Sendable {
        let id: ID
        let number: Int
        let isExclusive: Bool
    }

    private struct Slot {
        let name: Name
        /// Whether the transfer can't share a connection.
        let isExclusive: Bool
        /// Whether the transfer is connected.
        var isConnected = false
    }

    private struct Host {
        /// The number of transfers with a slot.
        var activeCount = 0
        /// The number of active transfers that can't share a connection.
        var exclusiveCount = 0
        /// The number of active transfers that are connected.
        var connectedCount = 0
        /// Whether transfers can share connections.
        var isShared = false
        /// Whether a connection attempt has failed, and none has succeeded since.
        var isFailing = false
        /// The queued transfers in order of arrival; entries of transfers that are no longer queued are skipped.
        var queue = FIFO<QueuedTransfer>()
        /// The number of the first queued transfer, if only the total limit prevents its admission.
        var contender: Int?

        /// The number of connections that the active transfers occupy.
        var connectionCount: Int {
            connectionCount(exclusive: exclusiveCount, others: activeCount - exclusiveCount)
        }

        /// Returns the number of connections after the admission of another transfer.
        func connectionCount(addingExclusive isExclusive: Bool) -> Int {
            isExclusive
                ? connectionCount(exclusive: exclusiveCount + 1, others: activeCount - exclusiveCount)
                : connectionCount(exclusive: exclusiveCount, others: activeCount - exclusiveCount + 1)
        }

        private func connectionCount(exclusive: Int, others: Int) -> Int {
            let shared = isShared ? ConnectionLimiter.streamsPerConnection : 1
            return exclusive + (others + shared - 1) / shared
        }

        /// Counts a transfer that receives a slot.
        mutating func add(isExclusive: Bool) {
            activeCount += 1
            if isExclusive { exclusiveCount += 1 }
        }
    }

    /// The maximum number of transfers that share a connection; libcurl has the same default.
    private static var streamsPerConnection: Int { 100 }

    private let maximumPerHost: Int
    private let maximumTotal: Int
    private var hosts: [Name: Host] = [:]
    private var slots: [ID: Slot] = [:]
    private var queued: [ID: (name: Name, number: Int)] = [:]
    /// The numbers of the transfers that are first in their host's queue, and wait only because of the total limit.
    private var contenders = WaitQueue()
    /// The host of each contender.
    private var contenderHosts: [Int: Name] = [:]
    private var connectionCount = 0
    private var lastNumber = 0

    /// Creates a limiter; returns `nil` if there are no limits.
    init?(maximumPerHost: Int?, maximumTotal: Int?) {
        guard maximumPerHost != nil || maximumTotal != nil else { return nil }
        self.maximumPerHost = max(1, maximumPerHost ?? .max)
        self.maximumTotal = max(1, maximumTotal ?? .max)
    }

    /// Whether the limiter has no state, that is, no active or queued transfers.
    var isEmpty: Bool { hosts.isEmpty && slots.isEmpty && queued.isEmpty && contenders.isEmpty }

    /// Admits a transfer, or enqueues it; returns whether it was admitted.
    ///
    /// - Complexity: O(log n) in the number of hosts with queued transfers, as for all methods here.
    mutating func acquire(_ id: ID, at name: Name, isExclusive: Bool = false) -> Bool {
        if hasRoom(at: name, isExclusive: isExclusive) {
            slots[id] = Slot(name: name, isExclusive: isExclusive)
            update(name) { $0.add(isExclusive: isExclusive) }
            return true
        }
        lastNumber += 1
        queued[id] = (name, lastNumber)
        hosts[name, default: Host()].queue.append(QueuedTransfer(id: id, number: lastNumber, isExclusive: isExclusive))
        return admit(at: name).contains(id)
    }

    /// Releases the slot of a transfer, or removes the transfer from its queue; returns the transfers that are admitted
    /// as a result.
    mutating func release(_ id: ID) -> [ID] {
        if let transfer = queued.removeValue(forKey: id) { return admit(at: transfer.name) }
        guard let name = removeSlot(id) else { return [] }
        // If no attempts are left, and the last one neither succeeded nor failed, let the next transfers try to
        // connect.
        update(name) { if $0.activeCount == 0 { $0.isFailing = false } }
        return admit(at: name)
    }

    /// Releases the slot of a transfer that failed to connect in time.
    ///
    /// - Returns: The transfers that are admitted as a result, and the queued transfers that must fail because all
    ///   attempts to connect to their host have failed.
    mutating func releaseUnconnected(_ id: ID) -> (admitted: [ID], failed: [ID]) {
        guard let name = removeSlot(id) else { return ([], []) }
        guard hosts[name]?.connectedCount == 0 else { return (admit(at: name), []) }
        update(name) { $0.isFailing = true }
        guard hosts[name]?.activeCount == 0 else { return (admit(at: name), []) }
        var failed: [ID] = []
        while let first = firstQueued(at: name) {
            queued[first.id] = nil
            failed.append(first.id)
        }
        return (admit(at: name), failed)
    }

    /// Removes the slot of a transfer; returns the name of the host.
    private mutating func removeSlot(_ id: ID) -> Name? {
        guard let slot = slots.removeValue(forKey: id) else { return nil }
        update(slot.name) { host in
            host.activeCount -= 1
            if slot.isExclusive { host.exclusiveCount -= 1 }
            if slot.isConnected { host.connectedCount -= 1 }
        }
        return slot.name
    }

    /// Records that a transfer was connected, or has lost its connection; returns the transfers that are admitted in
    /// turn.
    mutating func setConnected(_ id: ID, _ isConnected: Bool) -> [ID] {
        guard let index = slots.index(forKey: id), slots.values[index].isConnected != isConnected else { return [] }
        slots.values[index].isConnected = isConnected
        let name = slots.values[index].name
        update(name) { $0.connectedCount += isConnected ? 1 : -1 }
        guard isConnected, hosts[name]?.isFailing == true else { return [] }
        update(name) { $0.isFailing = false }
        return admit(at: name)
    }

    /// Records that transfers can share the connections of a host; returns the transfers that are admitted as a result.
    mutating func setShared(at name: Name) -> [ID] {
        guard hosts[name]?.isShared == false else { return [] }
        update(name) { $0.isShared = true }
        return admit(at: name)
    }

    /// Updates a host, and the total number of connections.
    ///
    /// The host is mutated in place through its index, because a copy would include the queue, and a mutation through
    /// the key would allocate three times.
    private mutating func update(_ name: Name, _ body: (inout Host) -> Void) {
        guard let index = hosts.index(forKey: name) else { return }
        let before = hosts.values[index].connectionCount
        body(&hosts.values[index])
        connectionCount += hosts.values[index].connectionCount - before
    }

    /// Returns whether a transfer can be admitted immediately; if so, creates an entry for a host that has none.
    private mutating func hasRoom(at name: Name, isExclusive: Bool) -> Bool {
        guard let host = hosts[name] else {
            guard connectionCount < maximumTotal else { return false }
            hosts[name] = Host()
            return true
        }
        let next = host.connectionCount(addingExclusive: isExclusive)
        guard !host.isFailing, host.queue.isEmpty, next <= maximumPerHost else { return false }
        return next == host.connectionCount || connectionCount < maximumTotal
    }

    /// Admits queued transfers: first those of one host that need no additional connection, and then those of all
    /// hosts, in order of arrival, up to the total limit.
    private mutating func admit(at name: Name) -> [ID] {
        var admitted: [ID] = []
        processQueue(at: name, &admitted)
        while connectionCount < maximumTotal, let number = contenders.first, let name = contenderHosts[number] {
            admitFirst(at: name, &admitted)
            processQueue(at: name, &admitted)
        }
        return admitted
    }

    /// Admits the queued transfers of a host that need no additional connection, and makes the next one a contender.
    private mutating func processQueue(at name: Name, _ admitted: inout [ID]) {
        if let previous = hosts[name]?.contender {
            contenders.remove(previous)
            contenderHosts[previous] = nil
            update(name) { $0.contender = nil }
        }
        while let first = firstQueued(at: name), let host = hosts[name], !host.isFailing {
            let next = host.connectionCount(addingExclusive: first.isExclusive)
            guard next <= maximumPerHost else { break }
            guard next > host.connectionCount else {
                admitFirst(at: name, &admitted)
                continue
            }
            contenders.add(first.number, priority: 0)
            contenderHosts[first.number] = name
            update(name) { $0.contender = first.number }
            return
        }
        if let host = hosts[name], host.activeCount == 0, host.queue.isEmpty { hosts[name] = nil }
    }

    /// Admits the first queued transfer of a host.
    private mutating func admitFirst(at name: Name, _ admitted: inout [ID]) {
        guard let first = firstQueued(at: name) else { return }
        queued[first.id] = nil
        slots[first.id] = Slot(name: name, isExclusive: first.isExclusive)
        update(name) { host in
            _ = host.queue.popFirst()
            host.add(isExclusive: first.isExclusive)
        }
        admitted.append(first.id)
    }

    /// Returns the first queued transfer of a host, after removing entries of transfers that are no longer queued.
    private mutating func firstQueued(at name: Name) -> QueuedTransfer? {
        while let first = hosts[name]?.queue.first {
            if queued[first.id]?.number == first.number { return first }
            _ = hosts[name]?.queue.popFirst()
        }
        return nil
    }
}
#endif

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Admits transfers if the number of connections is limited: first come, first served, and no more at a time than the
/// connections carry.
///
/// If a host can't be connected to, its places stay free until the attempts that have begun succeed or fail. If all of
/// them fail, those that wait fail as well: else they would all wait for the same error, one after another.
///
/// libcurl would make them wait as well, but in no order, and their timeouts would run meanwhile. Each transfer takes a
/// connection until its host is known to share connections (RFC 9113, 5). Then as many transfers take one connection as
/// hosts usually allow, and a transfer that can't share still takes one of its own.
struct ConnectionLimiter<ID: Hashable & Sendable, Name: Hashable & Sendable>: Sendable {
    // Identities are reused, as those of objects are; numbers aren't.
    private struct Arrival: Sendable {
        let id: ID
        let number: Int
        let isExclusive: Bool
    }

    private struct Place {
        let name: Name
        /// Whether the transfer can't share a connection.
        let isExclusive: Bool
        /// Whether the transfer has a connection.
        var isConnected = false
    }

    private struct Host {
        /// The number of transfers that have a place.
        var taken = 0
        /// The number of those that can't share a connection.
        var alone = 0
        /// The number of those that have a connection.
        var connected = 0
        var isShared = false
        /// Whether an attempt to connect has failed, and none has succeeded since.
        var isDoubtful = false
        /// The waiting transfers, in their order; one that no longer waits is skipped.
        var line = FIFO<Arrival>()
        /// The number of the first in line, if only the maximumTotal limit keeps it from connecting.
        var contender: Int?

        var connections: Int { connections(alone: alone, others: taken - alone) }

        /// Returns the number of connections with one more transfer.
        func connections(withOneThatIsAlone isExclusive: Bool) -> Int {
            isExclusive
                ? connections(alone: alone + 1, others: taken - alone)
                : connections(alone: alone, others: taken - alone + 1)
        }

        private func connections(alone: Int, others: Int) -> Int {
            let shared = isShared ? ConnectionLimiter.streamsPerConnection : 1
            return alone + (others + shared - 1) / shared
        }

        /// Counts a transfer that gets a place.
        mutating func add(isExclusive: Bool) {
            taken += 1
            if isExclusive { alone += 1 }
        }
    }

    /// The number of transfers on one connection if the host shares it; libcurl assumes the same.
    private static var streamsPerConnection: Int { 100 }

    private let maximumPerHost: Int
    private let maximumTotal: Int
    private var hosts: [Name: Host] = [:]
    private var places: [ID: Place] = [:]
    private var waiting: [ID: (name: Name, number: Int)] = [:]
    /// The hosts whose first in line waits only for the maximumTotal limit, by its number.
    private var contenders = WaitQueue()
    private var contending: [Int: Name] = [:]
    private var connections = 0
    private var arrivals = 0

    /// Makes places; `nil` if there are no limits.
    init?(maximumPerHost: Int?, maximumTotal: Int?) {
        guard maximumPerHost != nil || maximumTotal != nil else { return nil }
        self.maximumPerHost = max(1, maximumPerHost ?? .max)
        self.maximumTotal = max(1, maximumTotal ?? .max)
    }

    /// Whether no state is left.
    var isEmpty: Bool { hosts.isEmpty && places.isEmpty && waiting.isEmpty && contenders.isEmpty }

    /// Takes a place at a host, or else a place in line; returns whether it is the former.
    ///
    /// - Complexity: O(log n) in the number of hosts with a line, as for all methods here.
    mutating func acquire(_ id: ID, at name: Name, isExclusive: Bool = false) -> Bool {
        if hasRoom(at: name, isExclusive: isExclusive) {
            places[id] = Place(name: name, isExclusive: isExclusive)
            change(name) { $0.add(isExclusive: isExclusive) }
            return true
        }
        arrivals += 1
        waiting[id] = (name, arrivals)
        hosts[name, default: Host()].line.append(Arrival(id: id, number: arrivals, isExclusive: isExclusive))
        return admit(at: name).contains(id)
    }

    /// Gives back a place, or one in line; returns the transfers that are admitted now.
    mutating func release(_ id: ID) -> [ID] {
        if let place = waiting.removeValue(forKey: id) { return admit(at: place.name) }
        guard let name = vacate(id) else { return [] }
        // The last attempt was neither a success nor a failure.
        change(name) { if $0.taken == 0 { $0.isDoubtful = false } }
        return admit(at: name)
    }

    /// Gives back the place of a transfer that couldn't be connected in time.
    ///
    /// - Returns: The transfers that are admitted now, and those that have lost their place in line, since all attempts
    ///   to connect to their host have failed.
    mutating func releaseUnconnected(_ id: ID) -> (admitted: [ID], failed: [ID]) {
        guard let name = vacate(id) else { return ([], []) }
        guard hosts[name]?.connected == 0 else { return (admit(at: name), []) }
        change(name) { $0.isDoubtful = true }
        guard hosts[name]?.taken == 0 else { return (admit(at: name), []) }
        var failed: [ID] = []
        while let first = first(at: name) {
            waiting[first.id] = nil
            failed.append(first.id)
        }
        return (admit(at: name), failed)
    }

    /// Removes a transfer from its place; returns the name of the host.
    private mutating func vacate(_ id: ID) -> Name? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        change(place.name) { host in
            host.taken -= 1
            if place.isExclusive { host.alone -= 1 }
            if place.isConnected { host.connected -= 1 }
        }
        return place.name
    }

    /// Records that a transfer has got or lost its connection; returns the transfers that are admitted now.
    mutating func setConnected(_ id: ID, _ isConnected: Bool) -> [ID] {
        guard let index = places.index(forKey: id), places.values[index].isConnected != isConnected else { return [] }
        places.values[index].isConnected = isConnected
        let name = places.values[index].name
        change(name) { $0.connected += isConnected ? 1 : -1 }
        guard isConnected, hosts[name]?.isDoubtful == true else { return [] }
        change(name) { $0.isDoubtful = false }
        return admit(at: name)
    }

    /// Records that a host shares connections; returns the transfers that are admitted now.
    mutating func setShared(at name: Name) -> [ID] {
        guard hosts[name]?.isShared == false else { return [] }
        change(name) { $0.isShared = true }
        return admit(at: name)
    }

    /// Changes a host, and updates the number of its connections.
    ///
    /// In place, by the index: a copy would include the line, and a change by the key allocates three times.
    private mutating func change(_ name: Name, _ body: (inout Host) -> Void) {
        guard let index = hosts.index(forKey: name) else { return }
        let before = hosts.values[index].connections
        body(&hosts.values[index])
        connections += hosts.values[index].connections - before
    }

    /// Whether a transfer can begin without a place in line; makes an entry for the host if so.
    private mutating func hasRoom(at name: Name, isExclusive: Bool) -> Bool {
        guard let host = hosts[name] else {
            guard connections < maximumTotal else { return false }
            hosts[name] = Host()
            return true
        }
        let next = host.connections(withOneThatIsAlone: isExclusive)
        guard !host.isDoubtful, host.line.isEmpty, next <= maximumPerHost else { return false }
        return next == host.connections || connections < maximumTotal
    }

    /// Admits the transfers for which a host has room again and, if a connection has become free, those of any host
    /// that have waited longest.
    private mutating func admit(at name: Name) -> [ID] {
        var admitted: [ID] = []
        look(at: name, &admitted)
        while connections < maximumTotal, let number = contenders.first, let name = contending[number] {
            goAhead(at: name, &admitted)
            look(at: name, &admitted)
        }
        return admitted
    }

    /// Admits the transfers of a host that need no further connection, and lets the next one compete for one.
    private mutating func look(at name: Name, _ admitted: inout [ID]) {
        if let former = hosts[name]?.contender {
            contenders.remove(former)
            contending[former] = nil
            change(name) { $0.contender = nil }
        }
        while let first = first(at: name), let host = hosts[name], !host.isDoubtful {
            let next = host.connections(withOneThatIsAlone: first.isExclusive)
            guard next <= maximumPerHost else { break }
            guard next > host.connections else {
                goAhead(at: name, &admitted)
                continue
            }
            contenders.add(first.number, priority: 0)
            contending[first.number] = name
            change(name) { $0.contender = first.number }
            return
        }
        if let host = hosts[name], host.taken == 0, host.line.isEmpty { hosts[name] = nil }
    }

    private mutating func goAhead(at name: Name, _ admitted: inout [ID]) {
        guard let first = first(at: name) else { return }
        waiting[first.id] = nil
        places[first.id] = Place(name: name, isExclusive: first.isExclusive)
        change(name) { host in
            _ = host.line.popFirst()
            host.add(isExclusive: first.isExclusive)
        }
        admitted.append(first.id)
    }

    /// The first in line that still waits.
    private mutating func first(at name: Name) -> Arrival? {
        while let first = hosts[name]?.line.first {
            if waiting[first.id]?.number == first.number { return first }
            _ = hosts[name]?.line.popFirst()
        }
        return nil
    }
}
#endif

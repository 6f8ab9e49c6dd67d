// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Who may go ahead where the number of connections is limited: first come, first served, and no more at a time than the
/// connections carry.
///
/// libcurl would let them wait as well, but in no order, and their time would run meanwhile. A transfer takes a connection
/// until its host is seen to have several share one (RFC 9113, 5); then as many take one as hosts usually allow.
struct ConnectionPlaces<ID: Hashable & Sendable>: Sendable {
    // Identities come again, as those of objects do; numbers don't.
    private struct Arrival: Sendable {
        let id: ID
        let number: Int
    }

    private struct Host {
        /// Those that have a place.
        var taken = 0
        var isShared = false
        /// Those that wait, in their order; one that isn't waiting any more is passed over.
        var line = FIFO<Arrival>()
        /// The number of the first in line, where the host has room for it and only the total hasn't.
        var contender: Int?

        var transfersPerConnection: Int { isShared ? ConnectionPlaces.streamsPerConnection : 1 }
        var connections: Int { (taken + transfersPerConnection - 1) / transfersPerConnection }
        /// How many there would be with one transfer more.
        var nextConnections: Int { (taken + transfersPerConnection) / transfersPerConnection }
    }

    /// How many transfers one connection carries where the host allows it: what libcurl takes for granted.
    private static var streamsPerConnection: Int { 100 }

    private let perHost: Int
    private let total: Int
    private var hosts: [String: Host] = [:]
    private var places: [ID: String] = [:]
    private var waiting: [ID: (name: String, number: Int)] = [:]
    /// The hosts whose first in line waits for the total alone, by its number.
    private var contenders = WaitingLine()
    private var contending: [Int: String] = [:]
    private var connections = 0
    private var arrivals = 0

    /// Makes places; `nil` if nothing is limited.
    init?(perHost: Int?, total: Int?) {
        guard perHost != nil || total != nil else { return nil }
        self.perHost = max(1, perHost ?? .max)
        self.total = max(1, total ?? .max)
    }

    /// Whether nothing is kept.
    var isEmpty: Bool { hosts.isEmpty && places.isEmpty && waiting.isEmpty && contenders.isEmpty }

    /// Takes a place at a host, or else a place in line; true for the former.
    ///
    /// - Complexity: O(log n) in the number of hosts with a line, as everything here.
    mutating func take(_ id: ID, at name: String) -> Bool {
        arrivals += 1
        waiting[id] = (name, arrivals)
        hosts[name, default: Host()].line.append(Arrival(id: id, number: arrivals))
        return admit(at: name).contains(id)
    }

    /// Gives back a place, or that in line; gives those that may go ahead now.
    mutating func leave(_ id: ID) -> [ID] {
        if let place = waiting.removeValue(forKey: id) { return admit(at: place.name) }
        guard let name = places.removeValue(forKey: id) else { return [] }
        change(name) { $0.taken -= 1 }
        return admit(at: name)
    }

    /// Notes that a host has transfers share connections; gives those that may go ahead now.
    mutating func share(at name: String) -> [ID] {
        guard hosts[name]?.isShared == false else { return [] }
        change(name) { $0.isShared = true }
        return admit(at: name)
    }

    /// Changes a host, and how many connections there are with it.
    private mutating func change(_ name: String, _ body: (inout Host) -> Void) {
        guard var host = hosts[name] else { return }
        let before = host.connections
        body(&host)
        connections += host.connections - before
        hosts[name] = host
    }

    /// Lets those go ahead for whom a host has room again, and where a connection has become free, those that have waited
    /// longest, whichever their host is.
    private mutating func admit(at name: String) -> [ID] {
        var admitted: [ID] = []
        look(at: name, &admitted)
        while connections < total, let number = contenders.first, let name = contending[number] {
            goAhead(at: name, &admitted)
            look(at: name, &admitted)
        }
        return admitted
    }

    /// Lets those of a host go ahead that need no connection more, and has the next one contend for one.
    private mutating func look(at name: String, _ admitted: inout [ID]) {
        if let former = hosts[name]?.contender {
            contenders.remove(former)
            contending[former] = nil
            hosts[name]?.contender = nil
        }
        while let first = first(at: name), let host = hosts[name], host.nextConnections <= perHost {
            guard host.nextConnections > host.connections else {
                goAhead(at: name, &admitted)
                continue
            }
            contenders.add(first.number, priority: 0)
            contending[first.number] = name
            hosts[name]?.contender = first.number
            return
        }
        if let host = hosts[name], host.taken == 0, host.line.isEmpty { hosts[name] = nil }
    }

    private mutating func goAhead(at name: String, _ admitted: inout [ID]) {
        guard let first = first(at: name) else { return }
        waiting[first.id] = nil
        places[first.id] = name
        change(name) { host in
            _ = host.line.popFirst()
            host.taken += 1
        }
        admitted.append(first.id)
    }

    /// The first in line that still waits.
    private mutating func first(at name: String) -> Arrival? {
        while let first = hosts[name]?.line.first {
            if waiting[first.id]?.number == first.number { return first }
            _ = hosts[name]?.line.popFirst()
        }
        return nil
    }
}
#endif

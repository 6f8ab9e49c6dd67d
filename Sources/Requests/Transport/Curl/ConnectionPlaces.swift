// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Who may go ahead where the number of connections is limited: first come, first served, and no more at a time than the
/// connections carry.
///
/// libcurl would let them wait as well, but in no order, and their time would run meanwhile. A transfer takes a connection
/// until its host is seen to have several share one (RFC 9113, 5); then as many take one as hosts usually allow.
struct ConnectionPlaces<ID: Hashable & Sendable>: Sendable {
    private struct Host {
        /// Those that have a place.
        var taken = 0
        var isShared = false
        /// Those that wait, in their order; one that isn't waiting any more is passed over.
        var line = FIFO<(id: ID, number: UInt64)>()

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
    private var waiting: [ID: String] = [:]
    private var connections = 0
    private var arrivals: UInt64 = 0

    /// Makes places; `nil` if nothing is limited.
    init?(perHost: Int?, total: Int?) {
        guard perHost != nil || total != nil else { return nil }
        self.perHost = max(1, perHost ?? .max)
        self.total = max(1, total ?? .max)
    }

    /// Takes a place at a host, or else a place in line; true for the former.
    mutating func take(_ id: ID, at name: String) -> Bool {
        arrivals += 1
        waiting[id] = name
        hosts[name, default: Host()].line.append((id, arrivals))
        return admit().contains(id)
    }

    /// Gives back a place, or that in line; gives those that may go ahead now.
    mutating func leave(_ id: ID) -> [ID] {
        if let name = waiting.removeValue(forKey: id) {
            if hosts[name]?.taken == 0, !waiting.values.contains(name) { hosts[name] = nil }
            return []
        }
        guard let name = places.removeValue(forKey: id), var host = hosts[name] else { return [] }
        let before = host.connections
        host.taken -= 1
        connections += host.connections - before
        hosts[name] = host
        let next = admit()
        if hosts[name]?.taken == 0, hosts[name]?.line.isEmpty == true, hosts[name]?.isShared == false {
            hosts[name] = nil
        }
        return next
    }

    /// Notes that a host has transfers share connections; gives those that may go ahead now.
    mutating func share(at name: String) -> [ID] {
        guard var host = hosts[name], !host.isShared else { return [] }
        let before = host.connections
        host.isShared = true
        connections += host.connections - before
        hosts[name] = host
        return admit()
    }

    private func hasRoom(_ host: Host) -> Bool {
        let more = host.nextConnections - host.connections
        return host.nextConnections <= perHost && (more == 0 || connections + more <= total)
    }

    private mutating func occupy(_ host: inout Host, _ id: ID, _ name: String) {
        let before = host.connections
        host.taken += 1
        connections += host.connections - before
        places[id] = name
    }

    /// Lets the ones go ahead that have waited longest, among those whose host has room.
    private mutating func admit() -> [ID] {
        var admitted: [ID] = []
        while let (name, id) = longestWaiting() {
            waiting[id] = nil
            guard var host = hosts[name] else { break }
            _ = host.line.popFirst()
            occupy(&host, id, name)
            hosts[name] = host
            admitted.append(id)
        }
        return admitted
    }

    // O(hosts with a line), which are few where connections are limited.
    private mutating func longestWaiting() -> (name: String, id: ID)? {
        var longest: (name: String, id: ID, number: UInt64)?
        for name in hosts.keys {
            guard let head = head(of: name), let host = hosts[name], hasRoom(host) else { continue }
            if longest.map({ head.number < $0.number }) ?? true { longest = (name, head.id, head.number) }
        }
        return longest.map { ($0.name, $0.id) }
    }

    /// The first in line that still waits.
    private mutating func head(of name: String) -> (id: ID, number: UInt64)? {
        while let head = hosts[name]?.line.first {
            if waiting[head.id] != nil { return head }
            _ = hosts[name]?.line.popFirst()
        }
        return nil
    }
}
#endif

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The logic of a ``HostLimiter``: for each origin, how many are in, and who waits to come in.
///
/// Nobody waits at an origin that has room, except while the priorities are being asked for. Of origins that nobody is
/// at or waits at, nothing is kept.
struct HostSlots: Sendable {
    enum Input: Sendable, Hashable {
        /// Somebody new wants to come in.
        case arrived(Int, priority: Int)
        /// Somebody no longer wants to.
        case left(Int)
        /// These are the priorities that were asked for.
        case answered([Int: Int])
        /// Somebody who was in has gone.
        case freed
    }

    enum Action: Sendable, Hashable {
        /// Nothing.
        case none
        /// Ask these for their priorities, then say `answered`.
        case ask([Int])
        /// Tell these, in this order, that they are in.
        case grant([Int])
    }

    private struct Host: Sendable {
        var occupied = 0
        var line = WaitingLine()
        var isAsking = false
    }

    private let limit: Int
    private var hosts: [Origin: Host] = [:]

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// How many origins somebody is at or waits at.
    var count: Int { hosts.count }

    /// Moves on, and says what to do.
    mutating func handle(_ input: Input, at origin: Origin) -> Action {
        var host = hosts.removeValue(forKey: origin) ?? Host()
        let action = handle(input, at: &host)
        if host.occupied > 0 || !host.line.isEmpty || host.isAsking { hosts[origin] = host }
        return action
    }

    private func handle(_ input: Input, at host: inout Host) -> Action {
        switch input {
        case .arrived(let id, let priority):
            host.line.add(id, priority: priority)
        case .left(let id):
            host.line.remove(id)
            return .none
        case .answered(let priorities):
            host.isAsking = false
            host.line.update(priorities)
            return grant(at: &host)
        case .freed:
            host.occupied = max(0, host.occupied - 1)
        }
        guard !host.isAsking, host.occupied < limit else { return .none }
        // Who comes in is a question only where there is too little room.
        guard host.line.isCurious, host.line.count > limit - host.occupied else { return grant(at: &host) }
        host.isAsking = true
        return .ask(Array(host.line.ids))
    }

    private func grant(at host: inout Host) -> Action {
        var granted: [Int] = []
        while host.occupied < limit, let id = host.line.takeFirst() {
            host.occupied += 1
            granted.append(id)
        }
        return granted.isEmpty ? .none : .grant(granted)
    }
}

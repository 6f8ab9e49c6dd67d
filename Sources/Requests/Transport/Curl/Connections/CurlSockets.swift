// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// A socket, with a serial number: descriptors are reused.
struct CurlSocket: Hashable, Sendable {
    let descriptor: Int32
    fileprivate let serial: UInt64
}

/// The sockets that the loop waits for, in an epoll; belongs to the loop's thread.
///
/// libcurl forgets a socket at the end of every transfer, and asks for it again with the next one on the same
/// connection. A socket that libcurl has opened itself therefore stays registered when it is forgotten, and is removed
/// only if an event comes that no transfer waits for. This saves two system calls for each request. It is safe because
/// the callbacks for opening and closing show how long these sockets exist; any other, such as those of the resolver,
/// is removed when libcurl forgets it.
///
/// libcurl keeps the connections of finished requests, and checks them only when it makes another. This type finds out
/// which of them have ended or been idle for long enough, and retires them, so that libcurl closes them.
struct CurlSockets {
    /// The limits for keeping connections.
    struct Lifetime {
        /// The maximum idle time, in nanoseconds.
        var idle: UInt64 = 60 * 1_000_000_000
        /// The maximum age for further use, in nanoseconds.
        var age: UInt64 = .max
        /// The maximum number of transfers on one connection.
        var uses = Int.max

        var isLimited: Bool { age < .max || uses < .max }
    }

    private struct Interest {
        let serial: UInt64
        var registered: Int32 = 0
        var wanted: Int32 = 0
        /// The number of transfers that have asked for it, and haven't ended: a paused one doesn't wait for it.
        var users = 0
        /// The handle that asked for it last.
        var owner: CurlEasy?
        /// Whether its last response was one of HTTP/1.x: nothing may arrive before the next request is sent.
        var isExclusive = false
        /// Whether libcurl is to close it.
        var isRetired = false
        /// Whether it has served for long enough, and the next transfers get another.
        var isReplaced = false
        /// The name of its host, if that was looked up.
        var host: String?
        /// The route of the transfers that asked for it.
        var route: CurlRoute?
        /// The time at which something was last received.
        var heard: UInt64 = 0
        /// What its server has said of its end.
        var keepAlive: KeepAliveLimit?
        var uses = 0
        let opened: UInt64
        /// The time at which libcurl stopped waiting for it.
        var unwantedSince: UInt64
    }

    var lifetime = Lifetime()
    private var poll: Int32 = -1
    private var wakeUp: Int32 = -1
    private var known: [Int32: Interest] = [:]
    private var lastSerial: UInt64 = 0
    private var hosts: [String: Int] = [:]
    /// The sockets whose server has announced their end.
    private var announced: Set<Int32> = []
    /// Whether connections wait to be closed.
    private(set) var hasRetired = false
    private var events = [CCurlReady](repeating: CCurlReady(), count: 64)
    /// The sockets that have events for which libcurl waits, with the events.
    private(set) var ready: [CCurlReady] = []
    /// The sockets whose peer has ended the connection, while libcurl waits for this side alone.
    private(set) var ended: [Int32] = []

    /// Begins to wait with an epoll, which the caller owns, and for the descriptor that ends the waiting.
    mutating func open(_ poll: Int32, wakeUp: Int32) {
        self.poll = poll
        self.wakeUp = wakeUp
        ccurl_poll_set_wake(poll, wakeUp)
    }

    mutating func opened(_ socket: Int32, now: UInt64 = 0) {
        lastSerial += 1
        known[socket] = Interest(serial: lastSerial, opened: now, unwantedSince: now)
    }

    /// Forgets a socket; returns the handle that asked for it last.
    @discardableResult
    mutating func closes(_ socket: Int32) -> CurlEasy? {
        // The system removes a closed socket's registration automatically.
        let interest = known.removeValue(forKey: socket)
        setHost(nil, of: interest)
        announced.remove(socket)
        return interest?.owner
    }

    /// The open socket of a descriptor; `nil` if libcurl hasn't opened it for a connection.
    func socket(_ descriptor: Int32) -> CurlSocket? {
        known[descriptor].map { CurlSocket(descriptor: descriptor, serial: $0.serial) }
    }

    /// The handle that asked for a socket last.
    func owner(of descriptor: Int32) -> CurlEasy? { known[descriptor]?.owner }

    /// The number of libcurl's connections, at least.
    var count: Int { known.count }
    /// The number of those that no transfer has, or waits for.
    var idleCount: Int { known.values.count { $0.users == 0 && $0.wanted == 0 && !$0.isRetired } }

    /// Applies libcurl's request: 1 is for reading, 2 for writing, 3 for both, 4 to forget the socket.
    mutating func watch(_ socket: Int32, _ what: Int32, for easy: CurlEasy?, now: UInt64 = 0) {
        let bits = what == 4 ? 0 : what
        guard let index = known.index(forKey: socket) else {
            if bits == 0 { ccurl_poll_remove(poll, socket) } else { _ = ccurl_poll_set(poll, socket, bits) }
            return
        }
        known.values[index].wanted = bits
        guard bits != 0 else { return known.values[index].unwantedSince = now }
        known.values[index].owner = easy
        guard known.values[index].registered != bits else { return }
        known.values[index].registered = bits
        _ = ccurl_poll_set(poll, socket, bits)
    }

    /// Records that a transfer on a route has a socket, and no longer its previous one.
    mutating func enter(_ socket: CurlSocket?, from previous: CurlSocket?, to route: CurlRoute? = nil) {
        if let index = socket.flatMap(index) {
            known.values[index].users += 1
            known.values[index].route = route
        }
        if let index = previous.flatMap(index) { known.values[index].users -= 1 }
    }

    /// Where a socket is known, if it is still open: a change by the key would allocate three times.
    private func index(of socket: CurlSocket) -> Dictionary<Int32, Interest>.Index? {
        guard let index = known.index(forKey: socket.descriptor), known.values[index].serial == socket.serial else {
            return nil
        }
        return index
    }

    /// Records that a transfer on the socket has ended.
    ///
    /// Data that arrives before another transfer asks for the socket belongs to no response. libcurl before 8.1 takes
    /// it for the response to the next request. Another transfer may have the socket already, or it may be closed.
    ///
    /// - Parameters:
    ///   - socket: The last socket of the transfer.
    ///   - hasAsked: Whether the transfer has asked for it, which isn't needed if the response was there at once.
    ///   - isExclusive: Whether any data makes the connection unusable, including TLS records: servers send session
    ///     tickets before the first response.
    ///   - host: The name of the host, if that was looked up.
    ///   - keepAlive: What the response says of the end of the connection.
    ///   - now: The current time.
    ///   - isFree: Whether no other transfer can have the socket, as a paused one may.
    /// - Returns: Whether it has served for long enough, but is still in use, so that the next transfers need another.
    @discardableResult
    mutating func transferEnded(
        on socket: CurlSocket,
        hasAsked: Bool = true,
        isExclusive: Bool = false,
        host: String? = nil,
        keepAlive: KeepAliveLimit? = nil,
        now: UInt64 = 0,
        isFree: (CurlSocket) -> Bool = { _ in true }
    ) -> Bool {
        guard let index = index(of: socket) else { return false }
        known.values[index].uses += 1
        if hasAsked { known.values[index].users -= 1 }
        if host != nil, known.values[index].host != host {
            setHost(host, of: known.values[index])
            known.values[index].host = host
        }
        known.values[index].isExclusive = isExclusive
        if let keepAlive {
            known.values[index].keepAlive = keepAlive.following(known.values[index].keepAlive)
            announced.insert(socket.descriptor)
        }
        guard isWornOut(known.values[index], now: now) else { return false }
        guard known.values[index].users == 0 else {
            defer { known.values[index].isReplaced = true }
            return !known.values[index].isReplaced
        }
        if known.values[index].wanted == 0, isFree(socket) { retire(socket.descriptor) }
        return false
    }

    private func isWornOut(_ interest: Interest, now: UInt64) -> Bool {
        interest.isReplaced || interest.uses >= lifetime.uses || now &- interest.opened >= lifetime.age
    }

    /// Whether there is an open connection to a host whose name was looked up.
    func hasConnection(to host: String) -> Bool { hosts[host] != nil }

    private mutating func setHost(_ host: String?, of interest: Interest?) {
        if let old = interest?.host, let count = hosts[old] { hosts[old] = count > 1 ? count - 1 : nil }
        if let host { hosts[host, default: 0] += 1 }
    }

    /// Waits for sockets, and finds those whose events libcurl waits for: ``ready``.
    ///
    /// - Parameters:
    ///   - milliseconds: The maximum wait; -1 for no limit.
    ///   - isFree: Whether no transfer can have a socket without having asked for it, as a paused one may.
    mutating func wait(milliseconds: Int32, isFree: (CurlSocket) -> Bool) {
        let count = events.withUnsafeMutableBufferPointer {
            ccurl_poll_wait(poll, $0.baseAddress, Int32($0.count), milliseconds)
        }
        ready.removeAll(keepingCapacity: true)
        if !ended.isEmpty { ended = [] }
        for event in events.prefix(Int(count)) where event.socket != wakeUp {
            if let index = known.index(forKey: event.socket), known.values[index].wanted == 0 {
                known.values[index].registered = 0
                let interest = known.values[index]
                let socket = CurlSocket(descriptor: event.socket, serial: interest.serial)
                take(event, isIdle: interest.users == 0 && isFree(socket), isExclusive: interest.isExclusive)
            } else {
                ready.append(event)
            }
        }
    }

    /// Records that something has arrived.
    mutating func hears(_ event: CCurlReady, now: UInt64) {
        if event.bits & 1 != 0, let index = known.index(forKey: event.socket) { known.values[index].heard = now }
    }

    /// Whether an event means that the socket is readable, for a single transfer that only reads.
    func isRead(_ event: CCurlReady) -> Bool {
        guard event.bits == 1, let interest = known[event.socket] else { return false }
        return interest.wanted == 1 && interest.users == 1
    }

    /// Handles an event of a socket that libcurl doesn't wait for.
    private mutating func take(_ event: CCurlReady, isIdle: Bool, isExclusive: Bool) {
        let hasHungUp = event.bits & 4 != 0
        guard isIdle else { return takeInUse(event.socket, hasEnded: hasHungUp || ccurl_has_ended(event.socket)) }
        if hasHungUp || isExclusive && event.bits & 1 != 0 || ccurl_is_unusable(event.socket) {
            return retire(event.socket, isOver: true)
        }
        // From now on, its end is watched, and whatever comes over HTTP/1.x: it may have been watched for writing
        // alone.
        let bits: Int32 = isExclusive ? 1 : 0
        known[event.socket]?.registered = bits
        _ = ccurl_poll_set(poll, event.socket, bits)
    }

    /// Handles an event of a socket whose transfer waits for this side: only the end of the connection matters.
    private mutating func takeInUse(_ socket: Int32, hasEnded: Bool) {
        guard hasEnded else { return _ = ccurl_poll_set(poll, socket, 0) }
        ccurl_poll_remove(poll, socket)
        ended.append(socket)
    }
}

// MARK: - The end of connections

extension CurlSockets {
    /// Makes a connection look ended to libcurl, which closes it with the next sweep.
    ///
    /// Until then, old and recent releases may choose it for a request: they check a connection at most once a second. If
    /// it is over, nothing can be sent, so the request gets another connection.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - isOver: Whether no request may be sent over it, because the peer has ended it, may be about to, may not receive
    ///     anything, or has sent what belongs to no response.
    private mutating func retire(_ socket: Int32, isOver: Bool = false) {
        ccurl_poll_remove(poll, socket)
        ccurl_retire(socket, isOver)
        known[socket]?.registered = 0
        known[socket]?.isRetired = true
        hasRetired = true
    }

    /// The socket of a connection, by its two ends: asks the system about the sockets of the route.
    func socket(of connection: CurlTransfer.Connection, on route: CurlRoute) -> CurlSocket? {
        let found = known.first { descriptor, interest in
            interest.route == route
                && ccurl_is_between(
                    descriptor,
                    connection.local,
                    connection.localPort,
                    connection.remote,
                    connection.remotePort
                )
        }
        return found.map { CurlSocket(descriptor: $0.key, serial: $0.value.serial) }
    }

    /// Ends a connection that libcurl uses, and reads from at this moment.
    func cut(_ socket: CurlSocket) {
        if index(of: socket) != nil { ccurl_retire(socket.descriptor, true) }
    }

    /// Makes a connection end as soon as no transfer uses it.
    mutating func replace(_ socket: CurlSocket) {
        if let index = index(of: socket) { known.values[index].isReplaced = true }
    }

    /// Whether nothing has arrived since a time.
    func isSilent(_ socket: CurlSocket, since time: UInt64) -> Bool {
        index(of: socket).map { known.values[$0].heard <= time } ?? false
    }

    /// Retires the unused connections of a route over which nothing has arrived since a time.
    mutating func retireSilent(on route: CurlRoute, since time: UInt64, isFree: (CurlSocket) -> Bool) {
        retireUnused(isFree) { $0.route == route && $0.heard < time }
    }

    /// Retires the unused connections of a route that their server may be about to end.
    mutating func retireEnding(on route: CurlRoute, now: UInt64, isFree: (CurlSocket) -> Bool) {
        guard !announced.isEmpty else { return }
        for (descriptor, interest) in known where interest.route == route && !interest.isRetired {
            guard let keepAlive = interest.keepAlive, interest.wanted == 0, interest.users == 0 else { continue }
            let idle = now &- interest.unwantedSince
            guard
                keepAlive.isEnding(after: idle, roundTrip: 0)
                    || keepAlive.isEnding(after: idle, roundTrip: ccurl_round_trip(descriptor)),
                isFree(CurlSocket(descriptor: descriptor, serial: interest.serial))
            else { continue }
            retire(descriptor, isOver: true)
        }
    }

    /// Retires all unused connections, and makes the others end after their transfers; returns the routes of these.
    mutating func retireAll(isFree: (CurlSocket) -> Bool) -> Set<CurlRoute> {
        retireUnused(isFree) { _ in true }
        var routes: Set<CurlRoute> = []
        for index in known.indices where !known.values[index].isRetired {
            known.values[index].isReplaced = true
            if let route = known.values[index].route { routes.insert(route) }
        }
        return routes
    }

    private mutating func retireUnused(_ isFree: (CurlSocket) -> Bool, where isMeant: (Interest) -> Bool) {
        for (descriptor, interest) in known where interest.wanted == 0 && interest.users == 0 && isMeant(interest) {
            let socket = CurlSocket(descriptor: descriptor, serial: interest.serial)
            if !interest.isRetired, isFree(socket) { retire(descriptor, isOver: true) }
        }
    }

    /// Retires a connection on which more has arrived than the response that has just been received.
    ///
    /// Another transfer may get the connection before the socket is waited for again.
    mutating func retireIfReadable(_ socket: CurlSocket) {
        guard known[socket.descriptor]?.isRetired == false, ccurl_is_readable(socket.descriptor) else { return }
        retire(socket.descriptor, isOver: true)
    }

    /// Retires the connections that have been idle for too long.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isFree: Whether no transfer can have a socket without having asked for it.
    /// - Returns: The time at which the next one may be due; `nil` if no connection is left.
    mutating func retireIdle(now: UInt64, isFree: (CurlSocket) -> Bool) -> UInt64? {
        var next: UInt64?
        for (socket, interest) in known where interest.wanted == 0 && !interest.isRetired {
            let due = isWornOut(interest, now: now) ? now : interest.unwantedSince &+ lifetime.idle
            if due <= now, isFree(CurlSocket(descriptor: socket, serial: interest.serial)) {
                retire(socket)
            } else {
                // A connection that a paused transfer may have is checked again in a second.
                next = min(next ?? .max, due > now ? due : now + 1_000_000_000)
            }
        }
        return next
    }

    /// Checks whether there are retired connections that aren't closed yet.
    mutating func countRetired() {
        hasRetired = known.values.contains { $0.isRetired }
    }
}
#endif

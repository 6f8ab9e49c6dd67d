// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// A socket, identified by its descriptor and a serial number, because the system reuses descriptors.
struct CurlSocket: Hashable, Sendable {
    let descriptor: Int32
    fileprivate let serial: UInt64
}

/// The sockets that the loop watches with epoll; confined to the loop's thread.
///
/// libcurl stops watching a socket at the end of every transfer, and watches it again for the next transfer on the same
/// connection. To save two system calls per request, a socket that libcurl has opened itself stays registered with
/// epoll in between. It is removed only after an event for which no transfer waits. That is safe because callbacks
/// report when these sockets are opened and closed. Any other socket, such as one of libcurl's resolver, is removed
/// when libcurl stops watching it.
///
/// libcurl keeps the connections of finished requests, and checks them only when it opens another connection. This type
/// detects connections that have ended or exceeded the idle timeout, and retires them, so that libcurl closes them.
struct CurlSockets {
    /// The limits for reusing connections.
    struct Lifetime {
        /// The idle timeout in nanoseconds.
        var idle: UInt64 = 60 * 1_000_000_000
        /// The maximum age of a connection that is reused, in nanoseconds.
        var age: UInt64 = .max
        /// The maximum number of transfers on one connection.
        var uses = Int.max

        var isLimited: Bool { age < .max || uses < .max }
    }

    private struct Entry {
        let serial: UInt64
        /// The events that are registered with epoll.
        var registeredEvents: Int32 = 0
        /// The events that libcurl waits for; 0 while it doesn't watch the socket.
        var awaitedEvents: Int32 = 0
        /// The number of running transfers for which libcurl has watched the socket, including paused transfers.
        var userCount = 0
        /// The last handle for which libcurl has watched the socket.
        var owner: CurlEasy?
        /// Whether the last response was HTTP/1.x, in which case no input may arrive before the next request is sent.
        var isExclusive = false
        /// Whether libcurl should close the connection.
        var isRetired = false
        /// Whether new transfers must not reuse the connection.
        var isReplaced = false
        /// The host name of the connection, if it was looked up.
        var host: String?
        /// The route of the transfers that use the connection.
        var route: CurlRoute?
        /// The time at which data was last received.
        var lastReceived: UInt64 = 0
        /// The limits for reuse that the server has announced.
        var keepAlive: KeepAliveLimit?
        var useCount = 0
        let openedAt: UInt64
        /// The time at which libcurl stopped watching the socket.
        var idleSince: UInt64
    }

    var lifetime = Lifetime()
    private var poll: Int32 = -1
    private var wakeUp: Int32 = -1
    private var entries: [Int32: Entry] = [:]
    private var lastSerial: UInt64 = 0
    /// The number of open connections to each host name that was looked up.
    private var connectionCounts: [String: Int] = [:]
    /// The sockets whose server has announced limits for reuse.
    private var socketsWithKeepAlive: Set<Int32> = []
    /// Whether libcurl must still close retired connections.
    private(set) var hasRetired = false
    private var events = [CCurlReady](repeating: CCurlReady(), count: 64)
    /// The sockets that have events for which libcurl waits, with these events.
    private(set) var ready: [CCurlReady] = []
    /// The sockets that the peer has closed while their transfers aren't waiting for input.
    private(set) var closedByPeer: [Int32] = []

    /// Sets the epoll descriptor and the descriptor that wakes it up; the caller owns both.
    mutating func open(_ poll: Int32, wakeUp: Int32) {
        self.poll = poll
        self.wakeUp = wakeUp
        ccurl_poll_set_wake(poll, wakeUp)
    }

    /// Adds a socket that libcurl has opened.
    mutating func didOpen(_ socket: Int32, now: UInt64 = 0) {
        lastSerial += 1
        entries[socket] = Entry(serial: lastSerial, openedAt: now, idleSince: now)
    }

    /// Removes a socket that libcurl is about to close; returns the last handle for which libcurl has watched the
    /// socket.
    @discardableResult
    mutating func willClose(_ socket: Int32) -> CurlEasy? {
        // The system removes a closed socket from epoll automatically.
        let entry = entries.removeValue(forKey: socket)
        setHost(nil, of: entry)
        socketsWithKeepAlive.remove(socket)
        return entry?.owner
    }

    /// Returns the open socket of a descriptor; `nil` if libcurl hasn't opened the descriptor for a connection.
    func socket(_ descriptor: Int32) -> CurlSocket? {
        entries[descriptor].map { CurlSocket(descriptor: descriptor, serial: $0.serial) }
    }

    /// Returns the last handle for which libcurl has watched a socket.
    func owner(of descriptor: Int32) -> CurlEasy? { entries[descriptor]?.owner }

    /// The number of open sockets; libcurl may have fewer connections.
    var count: Int { entries.count }
    /// The number of idle connections that aren't retired.
    var idleCount: Int { entries.values.count { $0.userCount == 0 && $0.awaitedEvents == 0 && !$0.isRetired } }

    /// Watches a socket as libcurl requests: 1 for reading, 2 for writing, 3 for both, 4 to stop watching.
    mutating func watch(_ socket: Int32, _ what: Int32, for easy: CurlEasy?, now: UInt64 = 0) {
        let events = what == 4 ? 0 : what
        guard let index = entries.index(forKey: socket) else {
            if events == 0 { ccurl_poll_remove(poll, socket) } else { _ = ccurl_poll_set(poll, socket, events) }
            return
        }
        entries.values[index].awaitedEvents = events
        guard events != 0 else { return entries.values[index].idleSince = now }
        entries.values[index].owner = easy
        guard entries.values[index].registeredEvents != events else { return }
        entries.values[index].registeredEvents = events
        _ = ccurl_poll_set(poll, socket, events)
    }

    /// Counts a transfer as a user of a socket, and no longer as a user of its previous socket.
    mutating func moveUser(_ socket: CurlSocket?, from previous: CurlSocket?, on route: CurlRoute? = nil) {
        if let index = socket.flatMap(index) {
            entries.values[index].userCount += 1
            entries.values[index].route = route
        }
        if let index = previous.flatMap(index) { entries.values[index].userCount -= 1 }
    }

    /// Returns the index of a socket's entry; `nil` if the socket is no longer open.
    ///
    /// Entries are changed through their index, because changing an entry by its key would allocate three times.
    private func index(of socket: CurlSocket) -> Dictionary<Int32, Entry>.Index? {
        guard let index = entries.index(forKey: socket.descriptor), entries.values[index].serial == socket.serial else {
            return nil
        }
        return index
    }

    /// Records that a transfer on the socket has ended.
    ///
    /// Data that arrives before the next transfer uses the socket belongs to no response, but libcurl before 8.1 would
    /// take it for the response to the next request. The socket may be closed, or another transfer may already use it.
    ///
    /// - Parameters:
    ///   - socket: The last socket of the transfer.
    ///   - isCounted: Whether the transfer is counted as a user of the socket. It isn't counted if the response was
    ///     available immediately, because libcurl then never watched the socket.
    ///   - isExclusive: Whether any input makes the connection unusable. Even TLS records count as input, because
    ///     servers send session tickets before the first response, not after it.
    ///   - host: The host name, if it was looked up.
    ///   - keepAlive: The limits for reuse that the response has announced.
    ///   - now: The current time.
    ///   - isFree: Returns whether no paused transfer can be using the socket.
    /// - Returns: `true` if the connection has just expired but is still in use, in which case new transfers need
    ///   another connection.
    @discardableResult
    mutating func transferEnded(
        on socket: CurlSocket,
        isCounted: Bool = true,
        isExclusive: Bool = false,
        host: String? = nil,
        keepAlive: KeepAliveLimit? = nil,
        now: UInt64 = 0,
        isFree: (CurlSocket) -> Bool = { _ in true }
    ) -> Bool {
        guard let index = index(of: socket) else { return false }
        entries.values[index].useCount += 1
        if isCounted { entries.values[index].userCount -= 1 }
        if host != nil, entries.values[index].host != host {
            setHost(host, of: entries.values[index])
            entries.values[index].host = host
        }
        entries.values[index].isExclusive = isExclusive
        if let keepAlive {
            entries.values[index].keepAlive = keepAlive.following(entries.values[index].keepAlive)
            socketsWithKeepAlive.insert(socket.descriptor)
        }
        guard isExpired(entries.values[index], now: now) else { return false }
        guard entries.values[index].userCount == 0 else {
            defer { entries.values[index].isReplaced = true }
            return !entries.values[index].isReplaced
        }
        if entries.values[index].awaitedEvents == 0, isFree(socket) { retire(socket.descriptor) }
        return false
    }

    private func isExpired(_ entry: Entry, now: UInt64) -> Bool {
        entry.isReplaced || entry.useCount >= lifetime.uses || now &- entry.openedAt >= lifetime.age
    }

    /// Returns whether there is an open connection to a host whose name was looked up.
    func hasConnection(to host: String) -> Bool { connectionCounts[host] != nil }

    private mutating func setHost(_ host: String?, of entry: Entry?) {
        if let old = entry?.host, let count = connectionCounts[old] {
            connectionCounts[old] = count > 1 ? count - 1 : nil
        }
        if let host { connectionCounts[host, default: 0] += 1 }
    }

    /// Waits for events, and updates ``ready`` and ``closedByPeer``.
    ///
    /// - Parameters:
    ///   - milliseconds: The timeout; -1 for no timeout.
    ///   - isFree: Returns whether no paused transfer can be using the socket.
    mutating func wait(milliseconds: Int32, isFree: (CurlSocket) -> Bool) {
        let count = events.withUnsafeMutableBufferPointer {
            ccurl_poll_wait(poll, $0.baseAddress, Int32($0.count), milliseconds)
        }
        ready.removeAll(keepingCapacity: true)
        if !closedByPeer.isEmpty { closedByPeer = [] }
        for event in events.prefix(Int(count)) where event.socket != wakeUp {
            if let index = entries.index(forKey: event.socket), entries.values[index].awaitedEvents == 0 {
                entries.values[index].registeredEvents = 0
                let entry = entries.values[index]
                let socket = CurlSocket(descriptor: event.socket, serial: entry.serial)
                handle(event, isIdle: entry.userCount == 0 && isFree(socket), isExclusive: entry.isExclusive)
            } else {
                ready.append(event)
            }
        }
    }

    /// Records the time at which a socket became readable.
    mutating func recordActivity(_ event: CCurlReady, now: UInt64) {
        if event.bits & 1 != 0, let index = entries.index(forKey: event.socket) {
            entries.values[index].lastReceived = now
        }
    }

    /// Returns whether a socket is readable without any other event, and libcurl waits only for that, for a single
    /// transfer.
    func isReadable(_ event: CCurlReady) -> Bool {
        guard event.bits == 1, let entry = entries[event.socket] else { return false }
        return entry.awaitedEvents == 1 && entry.userCount == 1
    }

    /// Handles an event of a socket that libcurl doesn't watch.
    private mutating func handle(_ event: CCurlReady, isIdle: Bool, isExclusive: Bool) {
        let hasHungUp = event.bits & 4 != 0
        guard isIdle else { return handleInUse(event.socket, hasEnded: hasHungUp || ccurl_has_ended(event.socket)) }
        if hasHungUp || isExclusive && event.bits & 1 != 0 || ccurl_is_unusable(event.socket) {
            return retire(event.socket, isUnusable: true)
        }
        // The socket may have been registered only for writing. From now on, watch it for the end of the connection
        // and, over HTTP/1.x, for any input.
        let events: Int32 = isExclusive ? 1 : 0
        entries[event.socket]?.registeredEvents = events
        _ = ccurl_poll_set(poll, event.socket, events)
    }

    /// Handles an event of a socket whose transfer isn't waiting for the peer, so only the end of the connection
    /// matters.
    private mutating func handleInUse(_ socket: Int32, hasEnded: Bool) {
        guard hasEnded else { return _ = ccurl_poll_set(poll, socket, 0) }
        ccurl_poll_remove(poll, socket)
        closedByPeer.append(socket)
    }
}

// MARK: - Retiring connections

extension CurlSockets {
    /// Makes a connection look dead to libcurl, so that the next check closes it.
    ///
    /// Some versions of libcurl check a connection at most once a second, so they may still choose it for a request. If
    /// `isUnusable` is true, nothing can be sent over the connection, so libcurl uses another connection for the
    /// request.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - isUnusable: Whether no request may be sent over the connection. This is the case if the peer has closed the
    ///     connection or may be about to, if the peer may no longer receive anything, or if the peer has sent data that
    ///     belongs to no response.
    private mutating func retire(_ socket: Int32, isUnusable: Bool = false) {
        ccurl_poll_remove(poll, socket)
        ccurl_retire(socket, isUnusable)
        entries[socket]?.registeredEvents = 0
        entries[socket]?.isRetired = true
        hasRetired = true
    }

    /// Finds the socket of a connection on a route by the addresses of both ends.
    func socket(of connection: CurlTransfer.Connection, on route: CurlRoute) -> CurlSocket? {
        let found = entries.first { descriptor, entry in
            entry.route == route
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

    /// Aborts a connection from which libcurl is currently reading.
    func abort(_ socket: CurlSocket) {
        if index(of: socket) != nil { ccurl_retire(socket.descriptor, true) }
    }

    /// Retires a connection as soon as no transfer uses it.
    mutating func replace(_ socket: CurlSocket) {
        if let index = index(of: socket) { entries.values[index].isReplaced = true }
    }

    /// Returns whether nothing has been received on a connection since the given time.
    func isInactive(_ socket: CurlSocket, since time: UInt64) -> Bool {
        index(of: socket).map { entries.values[$0].lastReceived <= time } ?? false
    }

    /// Retires a route's idle connections that have received nothing since the given time.
    mutating func retireInactive(on route: CurlRoute, since time: UInt64, isFree: (CurlSocket) -> Bool) {
        retireIdle(isFree) { $0.route == route && $0.lastReceived < time }
    }

    /// Retires a route's idle connections that the server may be about to close.
    mutating func retireExpiring(on route: CurlRoute, now: UInt64, isFree: (CurlSocket) -> Bool) {
        guard !socketsWithKeepAlive.isEmpty else { return }
        for (descriptor, entry) in entries where entry.route == route && !entry.isRetired {
            guard let keepAlive = entry.keepAlive, entry.awaitedEvents == 0, entry.userCount == 0 else { continue }
            let idle = now &- entry.idleSince
            guard
                keepAlive.isEnding(after: idle, roundTrip: 0)
                    || keepAlive.isEnding(after: idle, roundTrip: ccurl_round_trip(descriptor)),
                isFree(CurlSocket(descriptor: descriptor, serial: entry.serial))
            else { continue }
            retire(descriptor, isUnusable: true)
        }
    }

    /// Retires all idle connections now, and the others after their transfers; returns the routes that are still in
    /// use.
    mutating func retireAll(isFree: (CurlSocket) -> Bool) -> Set<CurlRoute> {
        retireIdle(isFree) { _ in true }
        var routes: Set<CurlRoute> = []
        for index in entries.indices where !entries.values[index].isRetired {
            entries.values[index].isReplaced = true
            if let route = entries.values[index].route { routes.insert(route) }
        }
        return routes
    }

    private mutating func retireIdle(_ isFree: (CurlSocket) -> Bool, where condition: (Entry) -> Bool) {
        for (descriptor, entry) in entries where entry.awaitedEvents == 0 && entry.userCount == 0 && condition(entry) {
            let socket = CurlSocket(descriptor: descriptor, serial: entry.serial)
            if !entry.isRetired, isFree(socket) { retire(descriptor, isUnusable: true) }
        }
    }

    /// Retires a connection on which more input has arrived after the response that was just received.
    ///
    /// Call this method as soon as the transfer has ended, because another transfer may get the connection before the
    /// loop watches the socket again.
    mutating func retireIfReadable(_ socket: CurlSocket) {
        guard entries[socket.descriptor]?.isRetired == false, ccurl_is_readable(socket.descriptor) else { return }
        retire(socket.descriptor, isUnusable: true)
    }

    /// Retires idle connections that have exceeded the idle timeout or expired.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isFree: Returns whether no paused transfer can be using the socket.
    /// - Returns: The time at which to call this method again; `nil` if there are no idle connections.
    mutating func retireIdle(now: UInt64, isFree: (CurlSocket) -> Bool) -> UInt64? {
        var next: UInt64?
        for (socket, entry) in entries where entry.awaitedEvents == 0 && !entry.isRetired {
            let due = isExpired(entry, now: now) ? now : entry.idleSince &+ lifetime.idle
            if due <= now, isFree(CurlSocket(descriptor: socket, serial: entry.serial)) {
                retire(socket)
            } else {
                // If a paused transfer may be using the connection, check the connection again after a second.
                next = min(next ?? .max, due > now ? due : now + 1_000_000_000)
            }
        }
        return next
    }

    /// Updates ``hasRetired`` after libcurl has closed connections.
    mutating func updateHasRetired() {
        hasRetired = entries.values.contains { $0.isRetired }
    }
}
#endif

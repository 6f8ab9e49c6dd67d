// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The connections that libcurl keeps: their limits, their ends, and their replacement by others.
///
/// libcurl checks unused connections only when it makes another. This type makes it do so in time. It belongs to the
/// loop's thread, and is a class because libcurl calls back during calls.
final class CurlConnections {
    /// At most a quarter of the available descriptors.
    private static let mostIdle = min(256, max(1, ccurl_most_descriptors() / 4))
    /// The maximum number of hosts for which state is kept.
    private static let mostHosts = 1_024
    /// The time after which addresses are given again, in nanoseconds: libcurl forgets them after a minute.
    private static let lifetimeOfAddresses: UInt64 = 50_000_000_000
    /// The time by which the clocks have to differ more than before, in nanoseconds.
    private static let shortestSuspend: UInt64 = 1_000_000_000

    var sockets = CurlSockets()
    private var multi: CurlMulti?
    /// The TLS sessions, with which the next connection to a host is made in fewer steps.
    private var sessions: OpaquePointer?
    private var reaper = DeadConnectionReaper()
    private let mostPerHost: Int?
    private let most: Int?
    private var idleLimit = 0
    /// Whether a socket couldn't be opened.
    var failedToOpenSocket = false
    /// Whether libcurl is to close connections before it makes another.
    private var isTight = false
    /// The addresses that libcurl has, with the time at which it got them.
    private var given: [CurlAddresses.Place: (addresses: CurlAddresses, time: UInt64)] = [:]
    /// The routes whose connections take no further transfers, but are never idle, with the numbers of the connections
    /// that replace them.
    private var replacements: [CurlRoute: Int] = [:]
    private var lastReplacement = 0
    private let suspendedTime: @Sendable () -> UInt64
    private var lastSuspendedTime: UInt64

    init(_ configuration: CurlTransport.Configuration) {
        suspendedTime = configuration.suspendedTime
        lastSuspendedTime = suspendedTime()
        sockets.lifetime = configuration.lifetime
        mostPerHost = configuration.usesDefaultLimit ? nil : configuration.maximumConnectionsPerHost
        most = configuration.maximumConnections
    }

    /// Begins to manage the connections of a multi handle.
    func open(_ multi: CurlMulti?, _ descriptors: CurlInbox.Descriptors?) {
        self.multi = multi
        sessions = ccurl_sessions_new()
        if let descriptors { sockets.open(descriptors.poll, wakeUp: descriptors.wakeUp) }
        if let mostPerHost { set(CCURLM_MAX_HOST_CONNECTIONS, mostPerHost) }
        if let most { set(CCURLM_MAX_TOTAL_CONNECTIONS, most) }
    }

    /// Frees the stored sessions, after the handles of all transfers are freed.
    func close() {
        reaper.close()
        if let sessions { ccurl_sessions_free(sessions) }
        (multi, sessions) = (nil, nil)
    }

    private func set(_ option: CCurlMultiOption, _ value: Int) {
        if let multi { _ = ccurl_multi_set_long(multi, option, value) }
    }

    // MARK: Beginnings

    /// Prepares the handle of a transfer, which is new if that is over TLS.
    ///
    /// libcurl compares a session's requirements, as it does with connections. It still has the addresses of an earlier
    /// transfer to the same place.
    func prepare(_ transfer: CurlTransfer, now: UInt64, isFree: (CurlSocket) -> Bool) {
        if transfer.destination.isSecure {
            if let sessions { ccurl_easy_set_sessions(transfer.easy, sessions) }
            if !replacements.isEmpty, let number = replacements[transfer.route] {
                transfer.options.avoidConnections(before: number, transfer.handle)
            }
        }
        if !transfer.isIdempotent { sockets.retireEnding(on: transfer.route, now: now, isFree: isFree) }
        let missing = transfer.addresses.filter { !hasAddresses($0, now: now) }
        if !missing.isEmpty { transfer.options.setAddresses(to: missing, transfer.handle) }
    }

    /// Whether libcurl has addresses, and keeps them for some more seconds.
    private func hasAddresses(_ addresses: CurlAddresses, now: UInt64) -> Bool {
        guard let last = given[addresses.place], last.addresses == addresses else { return false }
        return now &- last.time < Self.lifetimeOfAddresses
    }

    /// Records that libcurl has the addresses of a transfer, which it reads when it begins to work on it.
    func hasAddresses(of transfer: CurlTransfer) {
        guard let taken = transfer.stopwatch.curlStart else { return }
        for addresses in transfer.addresses where !hasAddresses(addresses, now: taken) {
            if given.count >= Self.mostHosts { given = [:] }
            given[addresses.place] = (addresses, taken)
        }
    }

    /// Makes libcurl take other addresses than those that a transfer couldn't connect to.
    func forgetAddresses(of transfer: CurlTransfer) {
        for addresses in transfer.addresses where given[addresses.place]?.addresses == addresses {
            given[addresses.place] = nil
        }
    }

    /// Records that a transfer has asked for a socket; `nil` if it has lost its own.
    func enter(_ socket: CurlSocket?, _ transfer: CurlTransfer) {
        guard transfer.socket != socket else { return }
        sockets.enter(socket, from: transfer.socket, to: transfer.route)
        transfer.socket = socket
    }

    /// Limits unused connections.
    ///
    /// libcurl's limit is for all connections; if those in use exceed it, it keeps none for the next request.
    func limitIdle(transferCount: Int) {
        // In steps, so that it needn't be set for each transfer.
        let step = max(1, Self.mostIdle / 4)
        let limit = transfers / step * step + Self.mostIdle
        if limit != idleLimit { set(CCURLM_MAXCONNECTS, limit) }
        idleLimit = limit
    }

    // MARK: Descriptors

    /// Whether a transfer has failed because there was no descriptor for its connection.
    func isOutOfDescriptors(with code: Int32) -> Bool { failedToOpenSocket && code == CurlResult.cannotConnect }

    /// Makes libcurl close the connection that has been idle for longest before it makes another.
    ///
    /// It may count fewer connections than there are sockets, as one that is being made may have two.
    ///
    /// - Parameter attempt: The number of attempts of the transfer that needs the room.
    func makeRoom(attempt: Int) {
        isTight = true
        set(CCURLM_MAX_TOTAL_CONNECTIONS, max(1, sockets.count - attempt + 1))
    }

    /// Makes libcurl retry the transfers that room was made for; returns `false` if there are no such transfers.
    func tryAgain() -> Bool {
        failedToOpenSocket = false
        guard isTight else { return false }
        isTight = false
        if let multi { _ = ccurl_multi_act(multi, -1, 0) }
        set(CCURLM_MAX_TOTAL_CONNECTIONS, most ?? 0)
        return true
    }

    // MARK: Ends

    /// Retires the connection of a transfer that libcurl has just ended, if more than the response has arrived.
    ///
    /// libcurl 8 looks for that itself, and older ones do without TLS.
    func check(_ socket: CurlSocket, after transfer: CurlTransfer) {
        guard transfer.destination.isSecure, transfer.isExclusive, !CurlFeatures.loaded.detectsExtraData else { return }
        sockets.retireIfReadable(socket)
    }

    /// The socket of a transfer that has ended, while its multi handle has it.
    ///
    /// libcurl doesn't report the socket of a transfer that never had to wait, and searching for it is slow. So it is
    /// found only if the client or the server limits the age or the use of connections.
    func socket(of transfer: CurlTransfer) -> CurlSocket? {
        let isLimited = sockets.lifetime.isLimited || transfer.state.keepAlive != nil
        guard transfer.socket == nil, transfer.wasSent, isLimited else { return transfer.socket }
        return sockets.socket(ccurl_easy_socket(transfer.easy))
    }

    /// Records that a transfer has ended, like
    /// ``CurlSockets/transferEnded(on:hasAsked:isExclusive:host:now:isFree:)``.
    func transferEnded(_ transfer: CurlTransfer, on socket: CurlSocket?, now: UInt64, isFree: (CurlSocket) -> Bool) {
        if let socket {
            let needsOther = sockets.transferEnded(
                on: socket,
                hasAsked: transfer.socket == socket,
                isExclusive: transfer.isExclusive,
                host: transfer.connectionHostName,
                keepAlive: transfer.state.keepAlive,
                now: now,
                isFree: isFree
            )
            if needsOther { replace(transfer.route) }
        }
        reaper.schedule(in: sockets.lifetime.idle, now: now)
    }

    // MARK: Connections that are no use any more

    /// The socket of a running transfer: of several on one connection, only the first asks for it.
    ///
    /// libcurl before 7.80 doesn't tell the ends of a connection; its TLS session knows the socket.
    private func sharedSocket(of transfer: CurlTransfer) -> CurlSocket? {
        if let socket = transfer.socket { return socket }
        if let connection = transfer.connection { return sockets.socket(of: connection, on: transfer.route) }
        return sockets.socket(ccurl_easy_session_socket(transfer.easy))
    }

    /// Ends the connection of a transfer while libcurl reads from it.
    func cut(_ transfer: CurlTransfer) {
        if let socket = sharedSocket(of: transfer) { sockets.cut(socket) }
    }

    /// Takes a connection out of use over which nothing has come since a request was sent that is about to time out.
    ///
    /// The network may have lost it without a word, and others of the same age with it: the unused ones are closed, and
    /// one that other transfers still wait for takes no more of them.
    func timedOut(_ transfer: CurlTransfer, isFree: (CurlSocket) -> Bool) {
        guard let sent = transfer.sentAt, let socket = sharedSocket(of: transfer), sockets.isSilent(socket, since: sent)
        else { return }
        sockets.retireSilent(on: transfer.route, since: sent, isFree: isFree)
        guard transfer.streamID != nil else { return }
        sockets.replace(socket)
        if transfer.options.canAvoidConnections { replace(transfer.route) } else { sockets.cut(socket) }
    }

    /// Closes all unused connections if the system was suspended, and keeps new transfers from those in use.
    ///
    /// The peers have closed most of them, and the system didn't hear it. An HTTP/2 connection that new transfers can't
    /// avoid is cut.
    ///
    /// - Parameters:
    ///   - transfers: The transfers that libcurl has.
    ///   - isFree: Whether no transfer can have a socket without having asked for it.
    func awake(_ transfers: some Sequence<CurlTransfer>, isFree: (CurlSocket) -> Bool) {
        let time = suspendedTime()
        guard time > lastSuspendedTime &+ Self.shortestSuspend else { return }
        lastSuspendedTime = time
        for route in sockets.retireAll(isFree: isFree) { replace(route) }
        for transfer in transfers where transfer.streamID != nil && !transfer.options.canAvoidConnections {
            cut(transfer)
        }
    }

    /// Makes the next transfers on a route use other connections.
    private func replace(_ route: CurlRoute) {
        if replacements.count >= Self.mostHosts { replacements = [:] }
        lastReplacement += 1
        replacements[route] = lastReplacement
    }

    /// The time at which one may end; `nil` if none is expected to.
    var due: UInt64? { reaper.due }

    /// Closes connections that have ended, or have been idle for too long.
    func closeSome(now: UInt64, isFree: (CurlSocket) -> Bool) {
        if sockets.hasRetired { reaper.scheduleSoon(now: now) }
        guard let multi, let due = reaper.due, due <= now else { return }
        reaper.reschedule(at: sockets.retireIdle(now: now, isFree: isFree))
        guard sockets.hasRetired else { return }
        reaper.run(in: multi, now: now)
        sockets.countRetired()
        if sockets.hasRetired { reaper.scheduleSoon(now: now) }
    }
}
#endif

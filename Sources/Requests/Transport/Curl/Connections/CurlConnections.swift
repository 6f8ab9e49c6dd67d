// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// Manages libcurl's connection pool.
///
/// This type limits the number of connections, closes dead connections, and replaces connections that must not be
/// reused. libcurl checks idle connections only when it opens another connection, so this type triggers the checks in
/// time. The type is confined to the loop's thread. It is a class because libcurl calls back into it while the type
/// itself is calling libcurl. For a struct, such calls would violate exclusive access.
final class CurlConnections {
    /// The maximum number of idle connections: 256, or a quarter of the available descriptors if that is less.
    private static let maximumIdle = min(256, max(1, ccurl_most_descriptors() / 4))
    /// The maximum number of hosts whose state is stored.
    private static let maximumHosts = 1_024
    /// The time in nanoseconds after which addresses are passed to libcurl again, because it forgets them after a
    /// minute.
    private static let addressLifetime: UInt64 = 50_000_000_000
    /// The shortest suspension of the system that is detected, in nanoseconds.
    private static let minimumSuspension: UInt64 = 1_000_000_000

    var sockets = CurlSockets()
    private var multi: CurlMulti?
    /// The TLS sessions that shorten the handshake of the next connection to a host.
    private var sessions: OpaquePointer?
    private var reaper = DeadConnectionReaper()
    private let maximumPerHost: Int?
    private let maximumTotal: Int?
    private var idleLimit = 0
    /// Whether a socket couldn't be opened.
    var failedToOpenSocket = false
    /// Whether the total limit is reduced, which makes libcurl close a connection before it opens another.
    private var isLimitReduced = false
    /// The addresses that libcurl knows, and the time at which it received them.
    private var providedAddresses: [CurlAddresses.Endpoint: (addresses: CurlAddresses, time: UInt64)] = [:]
    /// The routes with connections that are in use but must not be reused.
    ///
    /// Each value is a sequence number; new transfers avoid connections of transfers with a lower number.
    private var replacements: [CurlRoute: Int] = [:]
    private var lastReplacement = 0
    private let suspendedTime: @Sendable () -> UInt64
    private var lastSuspendedTime: UInt64

    init(_ configuration: CurlTransport.Configuration) {
        suspendedTime = configuration.suspendedTime
        lastSuspendedTime = suspendedTime()
        sockets.lifetime = configuration.lifetime
        maximumPerHost = configuration.usesDefaultLimit ? nil : configuration.maximumConnectionsPerHost
        maximumTotal = configuration.maximumConnections
    }

    /// Starts managing the connections of a multi handle.
    func open(_ multi: CurlMulti?, _ descriptors: CurlInbox.Descriptors?) {
        self.multi = multi
        sessions = ccurl_sessions_new()
        if let descriptors { sockets.open(descriptors.poll, wakeUp: descriptors.wakeUp) }
        if let maximumPerHost { set(CCURLM_MAX_HOST_CONNECTIONS, maximumPerHost) }
        if let maximumTotal { set(CCURLM_MAX_TOTAL_CONNECTIONS, maximumTotal) }
    }

    /// Frees the TLS sessions; must be called after the handles of all transfers were freed.
    func close() {
        reaper.close()
        if let sessions { ccurl_sessions_free(sessions) }
        (multi, sessions) = (nil, nil)
    }

    private func set(_ option: CCurlMultiOption, _ value: Int) {
        if let multi { _ = ccurl_multi_set_long(multi, option, value) }
    }

    // MARK: Starting transfers

    /// Prepares the handle of a transfer; the handle is new if the transfer uses TLS.
    ///
    /// libcurl reuses a connection, and resumes a TLS session, only if the requirements are the same. Addresses that an
    /// earlier transfer to the same endpoint has passed to libcurl aren't passed again.
    func prepare(_ transfer: CurlTransfer, now: UInt64, isFree: (CurlSocket) -> Bool) {
        if transfer.destination.isSecure {
            if let sessions { ccurl_easy_set_sessions(transfer.easy, sessions) }
            if !replacements.isEmpty, let number = replacements[transfer.route] {
                transfer.options.avoidConnections(before: number, transfer.handle)
            }
        }
        if !transfer.isIdempotent { sockets.retireExpiring(on: transfer.route, now: now, isFree: isFree) }
        let missing = transfer.addresses.filter { !hasAddresses($0, now: now) }
        if !missing.isEmpty { transfer.options.setAddresses(to: missing, transfer.handle) }
    }

    /// Returns whether libcurl knows these addresses, and keeps them for at least a few more seconds.
    private func hasAddresses(_ addresses: CurlAddresses, now: UInt64) -> Bool {
        guard let last = providedAddresses[addresses.endpoint], last.addresses == addresses else { return false }
        return now &- last.time < Self.addressLifetime
    }

    /// Records that libcurl knows the addresses of a transfer; it reads them when it starts the transfer.
    func recordAddresses(of transfer: CurlTransfer) {
        guard let start = transfer.stopwatch.curlStart else { return }
        for addresses in transfer.addresses where !hasAddresses(addresses, now: start) {
            if providedAddresses.count >= Self.maximumHosts { providedAddresses = [:] }
            providedAddresses[addresses.endpoint] = (addresses, start)
        }
    }

    /// Forgets that libcurl knows addresses to which a transfer couldn't connect, so that the next transfer passes new
    /// addresses.
    func forgetAddresses(of transfer: CurlTransfer) {
        for addresses in transfer.addresses where providedAddresses[addresses.endpoint]?.addresses == addresses {
            providedAddresses[addresses.endpoint] = nil
        }
    }

    /// Records the socket that libcurl watches for a transfer; `nil` if the transfer has lost its socket.
    func setSocket(_ socket: CurlSocket?, _ transfer: CurlTransfer) {
        guard transfer.socket != socket else { return }
        sockets.moveUser(socket, from: transfer.socket, on: transfer.route)
        transfer.socket = socket
    }

    /// Limits the number of idle connections.
    ///
    /// libcurl's limit includes the connections that are in use. If they exceed the limit, libcurl keeps no idle
    /// connections.
    func limitIdle(transferCount: Int) {
        // Increase the limit in steps, so that it doesn't change with each transfer.
        let step = max(1, Self.maximumIdle / 4)
        let limit = transferCount / step * step + Self.maximumIdle
        if limit != idleLimit { set(CCURLM_MAXCONNECTS, limit) }
        idleLimit = limit
    }

    // MARK: Descriptors

    /// Returns whether a transfer with this result code has failed because no descriptor was available for its
    /// connection.
    func isOutOfDescriptors(with code: Int32) -> Bool { failedToOpenSocket && code == CurlResult.cannotConnect }

    /// Reduces the total limit, so that libcurl closes the longest idle connection before it opens another.
    ///
    /// libcurl may count fewer connections than there are sockets, because a connection that is being established may
    /// have two sockets. So each further attempt reduces the limit by one more.
    ///
    /// - Parameter attempt: The number of attempts of the transfer that needs a descriptor.
    func makeRoom(attempt: Int) {
        isLimitReduced = true
        set(CCURLM_MAX_TOTAL_CONNECTIONS, max(1, sockets.count - attempt + 1))
    }

    /// Makes libcurl retry the transfers for which ``makeRoom(attempt:)`` was called; returns `false` if there are
    /// none.
    func retryAfterMakingRoom() -> Bool {
        failedToOpenSocket = false
        guard isLimitReduced else { return false }
        isLimitReduced = false
        if let multi { _ = ccurl_multi_act(multi, -1, 0) }
        set(CCURLM_MAX_TOTAL_CONNECTIONS, maximumTotal ?? 0)
        return true
    }

    // MARK: Completed transfers

    /// Retires the connection of a transfer that has just ended, if more input than its response has arrived.
    ///
    /// libcurl 8 checks that itself; earlier versions do so only without TLS.
    func checkForExtraInput(_ socket: CurlSocket, after transfer: CurlTransfer) {
        guard transfer.destination.isSecure, transfer.isExclusive, !CurlFeatures.loaded.detectsExtraData else { return }
        sockets.retireIfReadable(socket)
    }

    /// Returns the socket of an ended transfer that is still in its multi handle.
    ///
    /// libcurl doesn't report the socket of a transfer that never had to wait, and finding that socket is slow. So the
    /// function looks for it only if the client or the server limits the age or the reuse of connections.
    func socket(of transfer: CurlTransfer) -> CurlSocket? {
        let isLimited = sockets.lifetime.isLimited || transfer.state.keepAlive != nil
        guard transfer.socket == nil, transfer.wasSent, isLimited else { return transfer.socket }
        return sockets.socket(ccurl_easy_socket(transfer.easy))
    }

    /// Records that a transfer has ended, and replaces its connection if necessary.
    ///
    /// For details, see ``CurlSockets/transferEnded(on:isCounted:isExclusive:host:keepAlive:now:isFree:)``.
    func transferEnded(_ transfer: CurlTransfer, on socket: CurlSocket?, now: UInt64, isFree: (CurlSocket) -> Bool) {
        if let socket {
            let needsReplacement = sockets.transferEnded(
                on: socket,
                isCounted: transfer.socket == socket,
                isExclusive: transfer.isExclusive,
                host: transfer.connectionHostName,
                keepAlive: transfer.state.keepAlive,
                now: now,
                isFree: isFree
            )
            if needsReplacement { replaceConnections(transfer.route) }
        }
        reaper.schedule(in: sockets.lifetime.idle, now: now)
    }

    // MARK: Discarding connections

    /// Returns the socket of a running transfer, even if the transfer shares a connection.
    ///
    /// If transfers share a connection, libcurl reports the socket only for the first. For the others, the socket is
    /// found by the addresses of the connection. libcurl before 7.80 doesn't report these addresses, but the socket can
    /// be obtained from the TLS session.
    private func sharedSocket(of transfer: CurlTransfer) -> CurlSocket? {
        if let socket = transfer.socket { return socket }
        if let connection = transfer.connection { return sockets.socket(of: connection, on: transfer.route) }
        return sockets.socket(ccurl_easy_session_socket(transfer.easy))
    }

    /// Aborts the connection of a transfer while libcurl reads from it.
    func abort(_ transfer: CurlTransfer) {
        if let socket = sharedSocket(of: transfer) { sockets.abort(socket) }
    }

    /// Discards the connection of a timed-out transfer, if nothing was received on it since the request was sent.
    ///
    /// The network may have dropped the connection silently, together with others of the same age. So idle connections
    /// of the route are closed. A connection that other transfers still use isn't reused for new transfers.
    func didTimeOut(_ transfer: CurlTransfer, isFree: (CurlSocket) -> Bool) {
        guard let sent = transfer.sentAt, let socket = sharedSocket(of: transfer),
            sockets.isInactive(socket, since: sent)
        else { return }
        sockets.retireInactive(on: transfer.route, since: sent, isFree: isFree)
        guard transfer.streamID != nil else { return }
        sockets.replace(socket)
        if transfer.options.canAvoidConnections { replaceConnections(transfer.route) } else { sockets.abort(socket) }
    }

    /// If the system was suspended, closes all idle connections, and prevents new transfers from reusing the others.
    ///
    /// In the meantime, the peers have closed most connections without the system noticing. An HTTP/2 connection that
    /// new transfers can't avoid is aborted.
    ///
    /// - Parameters:
    ///   - transfers: The running transfers.
    ///   - isFree: Returns whether no paused transfer can be using the socket.
    func checkForSuspension(_ transfers: some Sequence<CurlTransfer>, isFree: (CurlSocket) -> Bool) {
        let time = suspendedTime()
        guard time > lastSuspendedTime &+ Self.minimumSuspension else { return }
        lastSuspendedTime = time
        for route in sockets.retireAll(isFree: isFree) { replaceConnections(route) }
        for transfer in transfers where transfer.streamID != nil && !transfer.options.canAvoidConnections {
            abort(transfer)
        }
    }

    /// Makes the next transfers on a route use new connections.
    private func replaceConnections(_ route: CurlRoute) {
        if replacements.count >= Self.maximumHosts { replacements = [:] }
        lastReplacement += 1
        replacements[route] = lastReplacement
    }

    /// The time of the next check for connections to close; `nil` if none is scheduled.
    var due: UInt64? { reaper.due }

    /// Closes connections that have ended or exceeded the idle timeout.
    func closeExpired(now: UInt64, isFree: (CurlSocket) -> Bool) {
        if sockets.hasRetired { reaper.scheduleSoon(now: now) }
        guard let multi, let due = reaper.due, due <= now else { return }
        reaper.reschedule(at: sockets.retireIdle(now: now, isFree: isFree))
        guard sockets.hasRetired else { return }
        reaper.run(in: multi, now: now)
        sockets.updateHasRetired()
        if sockets.hasRetired { reaper.scheduleSoon(now: now) }
    }
}
#endif

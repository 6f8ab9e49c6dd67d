// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The transfers that wait before they are added to libcurl: for a slot within the connection limits, for their content
/// to be opened, or for the addresses of their host and proxy.
///
/// New transfers, ended transfers, free slots and resolved names may each let other transfers continue, thousands at a
/// time. The transfers that can continue are queued here until the loop calls ``nextStep(_:isConnected:)``. As a
/// result, no transfer starts inside a libcurl call, and no step runs inside another step.
///
/// This type is used only on the loop's thread.
struct CurlAdmission {
    /// The next step of a transfer, which the loop carries out.
    enum Step {
        /// Adds the transfer, which is ready, to libcurl.
        case start(CurlTransfer)
        /// Starts the idle timeout of a waiting transfer.
        case wait(CurlTransfer)
        /// Fails a transfer whose host or proxy has no address.
        case fail(CurlTransfer, HostResolver.Failure)
        /// Stops a transfer whose content can't be read, or whose origin can't be reached.
        case stop(CurlTransfer, CurlTransferState.Stop)
    }

    /// A transfer that can continue, and the reason.
    private enum ReadyTransfer {
        case new(CurlTransfer)
        /// The transfer has received a slot, or its content was opened.
        case admitted(CurlTransfer)
        /// The name of the transfer's host or proxy was looked up.
        case resolved(CurlTransfer, HostResolver.LookupResult)
        /// All attempts to connect to the transfer's origin have failed.
        case unreachable(CurlTransfer)

        var transfer: CurlTransfer {
            switch self {
            case .new(let transfer), .admitted(let transfer), .resolved(let transfer, _), .unreachable(let transfer):
                transfer
            }
        }
    }

    /// The lookup of one name, and the transfers that wait for its addresses, in order of arrival.
    private struct PendingLookUp {
        let query: HostQuery
        private var entries: [ObjectIdentifier: (number: Int, transfer: CurlTransfer)] = [:]
        private var lastNumber = 0

        init(for query: HostQuery) {
            self.query = query
        }

        var isEmpty: Bool { entries.isEmpty }
        var transfers: [CurlTransfer] { entries.values.sorted { $0.number < $1.number }.map(\.transfer) }

        mutating func add(_ transfer: CurlTransfer) {
            lastNumber += 1
            entries[ObjectIdentifier(transfer)] = (lastNumber, transfer)
        }

        mutating func remove(_ transfer: CurlTransfer) {
            entries[ObjectIdentifier(transfer)] = nil
        }
    }

    private let names: HostResolver
    private let addressOverrides: [String: [String]]
    /// Whether all connections use a Unix socket.
    private let usesUnixSocket: Bool
    private var limiter: ConnectionLimiter<ObjectIdentifier, Origin>?
    /// Whether the default connection limit applies, because the caller hasn't set one.
    private let usesDefaultLimit: Bool
    private var queued: [ObjectIdentifier: CurlTransfer] = [:]
    private var lookUps: [String: PendingLookUp] = [:]
    private var ready = FIFO<ReadyTransfer>()

    init(_ configuration: CurlTransport.Configuration) {
        names = configuration.names
        addressOverrides = Dictionary(
            configuration.addresses.map { (Self.key($0), $1) },
            uniquingKeysWith: { first, _ in first }
        )
        usesUnixSocket = configuration.unixSocketPath?.isEmpty == false
        usesDefaultLimit = configuration.usesDefaultLimit
        limiter = ConnectionLimiter(
            maximumPerHost: configuration.maximumConnectionsPerHost,
            maximumTotal: configuration.maximumConnections
        )
    }

    /// Returns the key of a host, with the port if there is one.
    private static func key(_ hostAndPort: String) -> String {
        let bracket = hostAndPort.lastIndex(of: "]") ?? hostAndPort.startIndex
        let colon = hostAndPort[bracket...].firstIndex(of: ":") ?? hostAndPort.endIndex
        return key(String(hostAndPort[..<colon]).canonicalHost, hostAndPort[colon...].dropFirst())
    }

    private static func key(_ host: String, _ port: some StringProtocol) -> String {
        port.isEmpty ? host : "\(host) \(port)"
    }

    /// The number of transfers that wait for a slot within the connection limits.
    var waitingCount: Int { queued.count }
    /// The number of names that are being looked up for transfers.
    var lookUpCount: Int { lookUps.count }

    // MARK: Events

    mutating func add(_ transfer: CurlTransfer) {
        ready.append(.new(transfer))
    }

    /// Requeues a transfer whose content has been opened; called only once for a transfer.
    mutating func resumeAfterOpening(_ transfer: CurlTransfer) {
        transfer.stage.enqueue()
        ready.append(.admitted(transfer))
    }

    /// Removes a transfer that has ended, or must not be sent.
    ///
    /// If the transfer couldn't connect in time and its origin has no open connection, the transfers queued for that
    /// origin fail as well, except that transfers with a longer connect timeout are queued again.
    mutating func remove(_ transfer: CurlTransfer) {
        let id = ObjectIdentifier(transfer)
        if let name = transfer.awaitedDestination?.name, let lookUp = lookUps[name] {
            lookUps[name]?.remove(transfer)
            if lookUps[name]?.isEmpty == true {
                lookUps[name] = nil
                names.cancel(lookUp.query)
            }
        }
        queued[id] = nil
        guard transfer.hasConnectTimedOut else { return admit(limiter?.release(id)) }
        let (admitted, failed) = limiter?.releaseUnconnected(id) ?? ([], [])
        admit(admitted)
        for waiting in failed.compactMap({ queued.removeValue(forKey: $0) }) {
            let canWaitLonger = waiting.stage.connectTimeout > transfer.stage.connectTimeout
            ready.append(canWaitLonger ? .new(waiting) : .unreachable(waiting))
        }
    }

    /// Records that a transfer has gained or lost its connection.
    mutating func setConnected(_ transfer: CurlTransfer, _ isConnected: Bool) {
        guard limiter != nil else { return }
        admit(limiter?.setConnected(ObjectIdentifier(transfer), isConnected))
    }

    /// Records that a transfer has received the head of its response.
    ///
    /// If the default limit applies, an open-ended stream gives up its slot now. Otherwise, a few streams would block
    /// all other requests.
    mutating func didReceiveHead(_ transfer: CurlTransfer) {
        guard transfer.isOpenEnded, usesDefaultLimit else { return }
        admit(limiter?.release(ObjectIdentifier(transfer)))
    }

    /// Records that the host of a transfer multiplexes requests over shared connections.
    mutating func didMultiplex(_ transfer: CurlTransfer) {
        guard limiter != nil else { return }
        admit(limiter?.setShared(at: transfer.destination.origin))
    }

    /// Receives the result of a lookup.
    ///
    /// The result may be late: the transfers that waited for it may have ended, and others may have started another
    /// lookup.
    mutating func receive(_ found: HostResolver.LookupResult, for query: HostQuery) {
        guard let lookUp = lookUps[query.name], lookUp.query == query else { return }
        lookUps[query.name] = nil
        ready.append(contentsOf: lookUp.transfers.map { .resolved($0, found) })
    }

    /// Discards the cached addresses that a transfer couldn't connect to, so that the next transfers look them up
    /// again.
    func forgetAddresses(of transfer: CurlTransfer) {
        for found in transfer.addresses {
            if let name = found.name { names.forget(found.addresses, of: name) }
        }
    }

    private mutating func admit(_ ids: [ObjectIdentifier]?) {
        for id in ids ?? [] {
            if let transfer = queued.removeValue(forKey: id) { ready.append(.admitted(transfer)) }
        }
    }

    // MARK: Steps

    /// Returns the next step; `nil` if all transfers here are waiting.
    ///
    /// - Parameters:
    ///   - loop: The loop, which receives a command when a name is resolved.
    ///   - isConnected: Returns whether a connection to a host is open. That connection will probably be reused without
    ///     the addresses, so expired addresses are sufficient.
    /// - Returns: The next step.
    mutating func nextStep(_ loop: CurlLoop, isConnected: (String) -> Bool) -> Step? {
        while let entry = ready.popFirst() {
            // A transfer that was stopped in the meantime has been removed, or is about to be.
            guard !entry.transfer.isStopped else { continue }
            switch entry {
            case .new(let transfer):
                enqueue(transfer)
            case .admitted(let transfer):
                switch transfer.openContent() {
                case .bytes: break
                case .later: return .wait(transfer)
                case .failed: return .stop(transfer, .bodyFailed)
                }
                transfer.didAdmit()
                return resolve(transfer, loop, isConnected)
            case .resolved(let transfer, .success(let addresses)):
                guard let destination = transfer.awaitedDestination.take() else { continue }
                transfer.addAddresses(from: CurlAddresses(addresses, of: destination))
                let isProxy = destination.url == transfer.proxy?.destination.url
                return isProxy ? resolveHost(of: transfer, loop, isConnected) : .start(transfer)
            case .resolved(let transfer, .failure(let failure)):
                return .fail(transfer, failure)
            case .unreachable(let transfer):
                return .stop(transfer, .connectTimedOut)
            }
        }
        return nil
    }

    private mutating func enqueue(_ transfer: CurlTransfer) {
        let id = ObjectIdentifier(transfer)
        transfer.stage.enqueue()
        let isExempt = usesDefaultLimit && transfer.hasOwnLimit
        let needsOwnConnection = transfer.options.avoidsHTTP2
        if !isExempt, limiter?.acquire(id, at: transfer.destination.origin, isExclusive: needsOwnConnection) == false {
            queued[id] = transfer
        } else {
            ready.append(.admitted(transfer))
        }
    }

    /// Resolves the addresses of a transfer's proxy, and those of its host unless the proxy resolves them.
    private mutating func resolve(_ transfer: CurlTransfer, _ loop: CurlLoop, _ isConnected: (String) -> Bool) -> Step {
        guard !usesUnixSocket else { return .start(transfer) }
        if let proxy = transfer.proxy, let step = resolve(proxy.destination, for: transfer, loop, isConnected) {
            return step
        }
        return resolveHost(of: transfer, loop, isConnected)
    }

    private mutating func resolveHost(
        of transfer: CurlTransfer,
        _ loop: CurlLoop,
        _ isConnected: (String) -> Bool
    ) -> Step {
        guard transfer.proxy?.requiresResolvedAddress ?? true else { return .start(transfer) }
        return resolve(transfer.destination, for: transfer, loop, isConnected) ?? .start(transfer)
    }

    /// Resolves the addresses of a destination; returns `nil` if the transfer needn't wait for them.
    private mutating func resolve(
        _ destination: CurlDestination,
        for transfer: CurlTransfer,
        _ loop: CurlLoop,
        _ isConnected: (String) -> Bool
    ) -> Step? {
        if let addresses = addressOverride(for: destination) {
            guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress($0) != nil }) else {
                let failure = HostResolver.Failure(
                    reason: "the configured addresses aren't valid IPv4 or IPv6 addresses"
                )
                transfer.awaitedDestination = destination
                return .fail(transfer, failure)
            }
            transfer.addAddresses(from: CurlAddresses(addresses, of: destination, areFixed: true))
        } else if let name = destination.name {
            guard let addresses = addresses(of: name, loop, acceptsExpired: isConnected(name)) else {
                transfer.awaitedDestination = destination
                lookUps[name]?.add(transfer)
                return .wait(transfer)
            }
            transfer.addAddresses(from: CurlAddresses(addresses, of: destination))
        }
        return nil
    }

    /// Returns the addresses that the caller has configured for a destination, which replace a lookup.
    private func addressOverride(for destination: CurlDestination) -> [String]? {
        guard !addressOverrides.isEmpty else { return nil }
        let host = destination.canonicalHost
        return addressOverrides[Self.key(host, String(destination.port))] ?? addressOverrides[host]
    }

    /// Returns the addresses of a name; `nil` while they are being looked up.
    private mutating func addresses(of name: String, _ loop: CurlLoop, acceptsExpired: Bool) -> [String]? {
        guard lookUps[name] == nil else { return nil }
        if acceptsExpired {
            switch names.addresses(of: name) {
            case .fresh(let addresses), .stale(let addresses): return addresses
            case .pending: break
            }
        }
        // The closure must not retain the loop, because a lookup can't be cancelled, and the loop may end before the
        // lookup does.
        let query = HostQuery(name) { [weak loop] query, found in loop?.submit(.resolved(query, found)) }
        if case .fresh(let addresses) = names.addresses(of: name, for: query) { return addresses }
        lookUps[name] = PendingLookUp(for: query)
        return nil
    }
}
#endif

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The waits of a transfer before libcurl gets it: for its turn if connections are limited, for its content to be
/// opened, and for the addresses of its host and its proxy.
///
/// Arriving and ending transfers, free limiter and found names may each admit others, thousands at a time. They queue up
/// here until the loop asks for the ``next(_:isConnected:)`` step, so that nothing starts inside a call of libcurl, and
/// no step inside another.
///
/// It belongs to the loop's thread.
struct CurlAdmission {
    /// The step of a transfer.
    enum Step {
        /// It is ready: libcurl gets it.
        case take(CurlTransfer)
        /// It waits, with a timeout.
        case watch(CurlTransfer)
        /// It can't be sent: its host or its proxy has no address.
        case refuse(CurlTransfer, HostResolver.Failure)
        /// It can't be sent: its content can't be read, or its origin can't be connected to.
        case stop(CurlTransfer, CurlTransferState.Stop)
    }

    /// A transfer that continues, with the reason.
    private enum Arrival {
        /// It is new.
        case new(CurlTransfer)
        /// Its turn has come, or its content was opened.
        case turn(CurlTransfer)
        /// Its name has been looked up.
        case found(CurlTransfer, HostResolver.LookupResult)
        /// All attempts to connect to its origin have failed.
        case unconnected(CurlTransfer)

        var transfer: CurlTransfer {
            switch self {
            case .new(let transfer), .turn(let transfer), .found(let transfer, _), .unconnected(let transfer): transfer
            }
        }
    }

    /// The transfers that wait for the addresses of a name, in their order.
    private struct Wait {
        let query: HostQuery
        private var numbered: [ObjectIdentifier: (number: Int, transfer: CurlTransfer)] = [:]
        private var arrivals = 0

        init(for query: HostQuery) {
            self.query = query
        }

        var isEmpty: Bool { numbered.isEmpty }
        var transfers: [CurlTransfer] { numbered.values.sorted { $0.number < $1.number }.map(\.transfer) }

        mutating func add(_ transfer: CurlTransfer) {
            arrivals += 1
            numbered[ObjectIdentifier(transfer)] = (arrivals, transfer)
        }

        mutating func remove(_ transfer: CurlTransfer) {
            numbered[ObjectIdentifier(transfer)] = nil
        }
    }

    private let names: HostResolver
    private let overrides: [String: [String]]
    /// Whether all connections go to a Unix socket.
    private let usesSocket: Bool
    private var limiter: ConnectionLimiter<ObjectIdentifier, Origin>?
    /// Whether the caller hasn't limited connections, so that the default does.
    private let usesDefaultLimit: Bool
    private var queued: [ObjectIdentifier: CurlTransfer] = [:]
    private var waits: [String: Wait] = [:]
    private var arrivals = FIFO<Arrival>()

    init(_ configuration: CurlTransport.Configuration) {
        names = configuration.names
        overrides = Dictionary(
            configuration.addresses.map { (Self.key($0), $1) },
            uniquingKeysWith: { first, _ in first }
        )
        usesSocket = configuration.unixSocketPath?.isEmpty == false
        usesDefaultLimit = configuration.usesDefaultLimit
        limiter = ConnectionLimiter(
            maximumPerHost: configuration.maximumConnectionsPerHost,
            maximumTotal: configuration.maximumConnections
        )
    }

    /// The key of a host, and of a port if there is one.
    private static func key(_ place: String) -> String {
        let bracket = place.lastIndex(of: "]") ?? place.startIndex
        let colon = place[bracket...].firstIndex(of: ":") ?? place.endIndex
        return key(String(place[..<colon]).canonicalHost, place[colon...].dropFirst())
    }

    private static func key(_ host: String, _ port: some StringProtocol) -> String {
        port.isEmpty ? host : "\(host) \(port)"
    }

    /// The number of transfers that wait for their turn.
    var waitingCount: Int { queued.count }
    /// The number of names that transfers wait for.
    var lookUpCount: Int { waits.count }

    // MARK: What happens

    /// Adds a transfer.
    mutating func enter(_ transfer: CurlTransfer) {
        arrivals.append(.new(transfer))
    }

    /// Lets a transfer continue whose content was opened, once: it doesn't wait for it any more.
    mutating func goOn(_ transfer: CurlTransfer) {
        transfer.stage.lineUp()
        arrivals.append(.turn(transfer))
    }

    /// Removes a transfer that has ended, or isn't to be sent any more.
    ///
    /// If no connection was made in time, and none to its origin is open, those that wait for a place there fail with
    /// it, if they wouldn't wait longer for a connection themselves.
    mutating func leave(_ transfer: CurlTransfer) {
        let id = ObjectIdentifier(transfer)
        if let name = transfer.awaited?.name, let wait = waits[name] {
            waits[name]?.remove(transfer)
            if waits[name]?.isEmpty == true {
                waits[name] = nil
                names.cancel(wait.query)
            }
        }
        queued[id] = nil
        guard transfer.isUnconnected else { return admit(limiter?.release(id)) }
        let (admitted, failed) = limiter?.releaseUnconnected(id) ?? ([], [])
        admit(admitted)
        for waiting in failed.compactMap({ queued.removeValue(forKey: $0) }) {
            let isPatient = waiting.stage.connectTimeout > transfer.stage.connectTimeout
            arrivals.append(isPatient ? .new(waiting) : .unconnected(waiting))
        }
    }

    /// Records that a transfer has got or lost its connection.
    mutating func setConnected(_ transfer: CurlTransfer, _ isConnected: Bool) {
        guard limiter != nil else { return }
        admit(limiter?.setConnected(ObjectIdentifier(transfer), isConnected))
    }

    /// Records that a transfer has received the head of its response.
    ///
    /// One without an end doesn't count from now on, if the limit is the default: a few of them would hold up all other
    /// requests.
    mutating func didReceiveHead(_ transfer: CurlTransfer) {
        guard transfer.isOpenEnded, usesDefaultLimit else { return }
        admit(limiter?.release(ObjectIdentifier(transfer)))
    }

    /// Records that the host of a transfer shares connections.
    mutating func share(_ transfer: CurlTransfer) {
        guard limiter != nil else { return }
        admit(limiter?.setShared(at: transfer.destination.origin))
    }

    /// Takes the answer to a query.
    ///
    /// It may be late: the transfers that asked may be gone, and others may have asked again.
    mutating func take(_ found: HostResolver.LookupResult, to query: HostQuery) {
        guard let wait = waits[query.name], wait.query == query else { return }
        waits[query.name] = nil
        arrivals.append(contentsOf: wait.transfers.map { .found($0, found) })
    }

    /// Makes the next transfers look up the names again whose addresses a transfer couldn't connect to.
    func forgetAddresses(of transfer: CurlTransfer) {
        for found in transfer.addresses {
            if let name = found.name { names.forget(found.addresses, of: name) }
        }
    }

    private mutating func admit(_ ids: [ObjectIdentifier]?) {
        for id in ids ?? [] {
            if let transfer = queued.removeValue(forKey: id) { arrivals.append(.turn(transfer)) }
        }
    }

    // MARK: What is done

    /// Returns the next step; `nil` if all transfers here are waiting.
    ///
    /// - Parameters:
    ///   - loop: Gets a command when a name is found.
    ///   - isConnected: Whether a connection to a host is open: it is likely to be reused, which needs no address, so
    ///     expired ones are sufficient.
    /// - Returns: The step.
    mutating func next(_ loop: CurlLoop, isConnected: (String) -> Bool) -> Step? {
        while let arrival = arrivals.popFirst() {
            // A transfer that was stopped in the meantime has left, or is about to.
            guard !arrival.transfer.isStopped else { continue }
            switch arrival {
            case .new(let transfer):
                lineUp(transfer)
            case .turn(let transfer):
                switch transfer.openContent() {
                case .bytes: break
                case .later: return .watch(transfer)
                case .failed: return .stop(transfer, .bodyFailed)
                }
                transfer.dispatch()
                return find(transfer, loop, isConnected)
            case .found(let transfer, .success(let addresses)):
                guard let destination = transfer.awaited.take() else { continue }
                transfer.connect(to: CurlAddresses(addresses, of: destination))
                let isProxy = destination.url == transfer.proxy?.destination.url
                return isProxy ? findHost(of: transfer, loop, isConnected) : .take(transfer)
            case .found(let transfer, .failure(let failure)):
                return .refuse(transfer, failure)
            case .unconnected(let transfer):
                return .stop(transfer, .unconnected)
            }
        }
        return nil
    }

    private mutating func lineUp(_ transfer: CurlTransfer) {
        let id = ObjectIdentifier(transfer)
        transfer.stage.lineUp()
        let isExempt = usesDefaultLimit && transfer.hasOwnLimit
        let isExclusive = transfer.options.avoidsHTTP2
        if !isExempt, limiter?.acquire(id, at: transfer.destination.origin, isExclusive: isExclusive) == false {
            queued[id] = transfer
        } else {
            arrivals.append(.turn(transfer))
        }
    }

    /// Finds the addresses of the proxy of a transfer, and those of its host unless the proxy does that.
    private mutating func find(_ transfer: CurlTransfer, _ loop: CurlLoop, _ isConnected: (String) -> Bool) -> Step {
        guard !usesSocket else { return .take(transfer) }
        if let proxy = transfer.proxy, let step = find(proxy.destination, for: transfer, loop, isConnected) {
            return step
        }
        return findHost(of: transfer, loop, isConnected)
    }

    private mutating func findHost(of transfer: CurlTransfer, _ loop: CurlLoop, _ isConnected: (String) -> Bool) -> Step
    {
        guard transfer.proxy?.requiresResolvedAddress ?? true else { return .take(transfer) }
        return find(transfer.destination, for: transfer, loop, isConnected) ?? .take(transfer)
    }

    /// Finds the addresses of a place; `nil` if the transfer needn't wait for them.
    private mutating func find(
        _ destination: CurlDestination,
        for transfer: CurlTransfer,
        _ loop: CurlLoop,
        _ isConnected: (String) -> Bool
    ) -> Step? {
        if let addresses = override(for: destination) {
            guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress($0) != nil }) else {
                let failure = HostResolver.Failure(reason: "The configured addresses aren't addresses of IPv4 or IPv6")
                transfer.awaited = destination
                return .refuse(transfer, failure)
            }
            transfer.connect(to: CurlAddresses(addresses, of: destination, areFixed: true))
        } else if let name = destination.name {
            guard let addresses = addresses(of: name, loop, mayBeOutdated: isConnected(name)) else {
                transfer.awaited = destination
                waits[name]?.add(transfer)
                return .watch(transfer)
            }
            transfer.connect(to: CurlAddresses(addresses, of: destination))
        }
        return nil
    }

    /// The addresses that a caller has configured instead of a look-up.
    private func override(for destination: CurlDestination) -> [String]? {
        guard !overrides.isEmpty else { return nil }
        let host = destination.canonicalHost
        return overrides[Self.key(host, String(destination.port))] ?? overrides[host]
    }

    /// The addresses of a name; `nil` if they are being looked up.
    private mutating func addresses(of name: String, _ loop: CurlLoop, mayBeOutdated: Bool) -> [String]? {
        guard waits[name] == nil else { return nil }
        if mayBeOutdated {
            switch names.addresses(of: name) {
            case .fresh(let addresses), .stale(let addresses): return addresses
            case .pending: break
            }
        }
        // It must not retain the loop, which may end first: a look-up can't be stopped.
        let query = HostQuery(name) { [weak loop] query, found in loop?.submit(.found(query, found)) }
        if case .fresh(let addresses) = names.addresses(of: name, for: query) { return addresses }
        waits[name] = Wait(for: query)
        return nil
    }
}
#endif

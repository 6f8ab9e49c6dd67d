// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// What a transfer waits for before libcurl has it: its turn, where connections are limited, and the addresses of its
/// host.
///
/// Belongs to the loop's thread.
struct CurlEntrance {
    /// What is known of the addresses that a transfer needs.
    enum Addresses {
        /// It needs none, or libcurl sees to them.
        case notNeeded
        case known([String])
        /// They are the caller's.
        case fixed([String])
        /// They are looked up, and the transfer waits for them.
        case awaited
    }

    /// The one that the look-ups are for.
    private final class Owner: Sendable {}

    private let owner = Owner()
    private let names: HostNames
    private let overrides: [String: [String]]
    /// Whether it isn't the host of a request that is connected to.
    private let isIndirect: Bool
    private var places: ConnectionPlaces<ObjectIdentifier>?
    private var inLine: [ObjectIdentifier: CurlTransfer] = [:]
    /// Those that wait for the addresses of a name.
    private var awaiting: [String: [CurlTransfer]] = [:]

    init(_ configuration: CurlTransport.Configuration) {
        names = configuration.names
        overrides = Dictionary(
            configuration.addresses.map { (Self.key($0), $1) },
            uniquingKeysWith: { first, _ in first }
        )
        isIndirect = configuration.usesProxy || configuration.unixSocketPath != nil
        places = ConnectionPlaces(
            perHost: configuration.maximumConnectionsPerHost,
            total: configuration.maximumConnections
        )
    }

    /// Whether transfers may have to wait for their turn.
    var isLimited: Bool { places != nil }

    /// A host, and a port if there is one, in the form of ``CurlDestination``.
    private static func key(_ place: String) -> String {
        let host = place.prefix { $0 != ":" }
        return (String(host).wireHost + place.dropFirst(host.count)).lowercased()
    }

    /// Takes a transfer in; true if it may go ahead, else it waits for its turn.
    mutating func enter(_ transfer: CurlTransfer) -> Bool {
        let id = ObjectIdentifier(transfer)
        guard places?.take(id, at: transfer.destination.origin) == false else { return true }
        inLine[id] = transfer
        return false
    }

    /// Lets a transfer go, which has ended; gives those whose turn it is now.
    mutating func leave(_ transfer: CurlTransfer) -> [CurlTransfer] {
        let id = ObjectIdentifier(transfer)
        if let name = transfer.destination.name, awaiting[name] != nil {
            awaiting[name]?.removeAll { $0 === transfer }
            if awaiting[name]?.isEmpty == true {
                awaiting[name] = nil
                names.leave(name, ObjectIdentifier(owner))
            }
        }
        inLine[id] = nil
        return take(places?.leave(id))
    }

    /// Notes that the host of a transfer has several share a connection; gives those whose turn it is now.
    mutating func share(_ transfer: CurlTransfer) -> [CurlTransfer] {
        guard places != nil else { return [] }
        return take(places?.share(at: transfer.destination.origin))
    }

    private mutating func take(_ ids: [ObjectIdentifier]?) -> [CurlTransfer] {
        (ids ?? []).compactMap { inLine.removeValue(forKey: $0) }
    }

    // MARK: Names

    /// Gives the addresses that a transfer is to connect to.
    ///
    /// - Parameters:
    ///   - transfer: The transfer, which has its turn.
    ///   - isConnected: Whether a connection to its host is open: it is likely to be used, and then no address is
    ///     needed, so that outdated ones will do.
    ///   - loop: Gets a command when addresses are found that are awaited.
    /// - Returns: The addresses, as far as they are known.
    mutating func addresses(
        for transfer: CurlTransfer,
        isConnected: Bool,
        tell loop: CurlLoop
    ) -> Addresses {
        let destination = transfer.destination
        if !overrides.isEmpty {
            let host = destination.host
            if let addresses = overrides["\(host):\(destination.port)"] ?? overrides[host] { return .fixed(addresses) }
        }
        guard !isIndirect, let name = destination.name else { return .notNeeded }
        if isConnected, awaiting[name] == nil {
            switch names.addresses(of: name, for: nil) {
            case .fresh(let addresses), .outdated(let addresses): return .known(addresses)
            case .nothing: break
            }
        }
        if awaiting[name] == nil {
            // It mustn't keep the loop, which may be gone by then: a look-up can't be stopped.
            let waiter = NameTable.Waiter(id: ObjectIdentifier(owner)) { [weak loop] found in
                loop?.submit(.found(name, found))
            }
            if case .fresh(let addresses) = names.addresses(of: name, for: waiter) { return .known(addresses) }
        }
        awaiting[name, default: []].append(transfer)
        return .awaited
    }

    /// Gives those that waited for the addresses of a name.
    mutating func takeAwaiting(_ name: String) -> [CurlTransfer] {
        awaiting.removeValue(forKey: name) ?? []
    }
}

/// Where a transfer connects to, by its address.
struct CurlDestination {
    let address: String
    let isSecure: Bool
    /// The host in lower case, where that is a name that has to be looked up.
    let name: String?
    /// Where the host is in the bytes of the address, and the digits of its port.
    private let place: Range<Int>
    private let digits: Range<Int>

    /// - Parameter address: An address that is whole: with its scheme, and without a user.
    init(_ address: String) {
        self.address = address
        var address = address
        (isSecure, place, digits, name) = address.withUTF8 { bytes in
            let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
            let start = min(scheme + 3, bytes.count)
            let authority = bytes[start...].prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
            // An address of IPv6 has colons of its own, within brackets.
            let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? start
            let colon = authority[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            let host = bytes[start..<colon]
            let name = Self.isName(host) ? Self.text(host) : nil
            return (scheme == 5, start..<colon, min(colon + 1, authority.endIndex)..<authority.endIndex, name)
        }
    }

    /// The host in lower case; empty in an address without one.
    var host: String { name ?? text(place) }

    var port: Int { Int(text(digits)) ?? (isSecure ? 443 : 80) }

    /// Scheme, host and port, in the same form for the same place.
    var origin: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

    private func text(_ range: Range<Int>) -> String {
        var address = address
        return address.withUTF8 { Self.text($0[range]) }
    }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(decoding: bytes.lazy.map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether a host is a name that has to be looked up.
    ///
    /// An address isn't, whose last label is a number, nor is the machine itself, which libcurl knows. What has other
    /// characters than names have is left to libcurl as well.
    private static func isName(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let label = host.lastIndex(of: UInt8(ascii: ".")).map { host[($0 + 1)...] } ?? host
        guard let first = label.first, !ASCII.isDigit(first) else { return false }
        guard !label.elementsEqual("localhost".utf8, by: { ASCII.lowercased($0) == $1 }) else { return false }
        return host.allSatisfy { ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
    }
}
#endif

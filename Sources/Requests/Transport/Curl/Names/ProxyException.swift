// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// An entry of `no_proxy`: hosts to which requests are sent without a proxy.
///
/// Hosts are compared in their canonical form, since a proxy otherwise gets what was meant for another spelling of the
/// same host. `libcurl` knows neither `*.example.com` nor ports, which other programs do.
struct ProxyException: Sendable, Hashable {
    private enum Hosts: Sendable, Hashable {
        case all
        /// A domain, and the hosts below it.
        case domain(String)
        /// The hosts below a domain.
        case below(String)
        /// An address or a network, such as `10.0.0.0/8` (RFC 4632, 3.1).
        case network(IPAddress, prefix: Int)
    }

    private let hosts: Hosts
    /// The only port; `nil` for all.
    private let port: Int?

    /// Reads an entry: `*`, a host such as `example.com`, its hosts as `*.example.com`, an address or a network, and a
    /// port if only that is meant.
    ///
    /// `.example.com` means the same as `example.com`: the domain and the hosts below it. It is `nil` for a text that
    /// can't match any host.
    init?(_ text: some StringProtocol) {
        let (place, port) = Self.split(String(text))
        self.port = port
        if place == "*" {
            hosts = .all
        } else if let (address, prefix) = Self.network(place) {
            hosts = .network(address, prefix: prefix)
        } else {
            let isBelow = place.hasPrefix("*.")
            let domain = String(place.dropFirst(isBelow ? 2 : 0).drop { $0 == "." }).canonicalHost
            guard !domain.isEmpty else { return nil }
            hosts = isBelow ? .below(domain) : .domain(domain)
        }
    }

    /// Whether the entry includes a host, in its canonical form, and a port.
    func includes(_ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        let address = IPAddress(host.prefix { $0 != "%" })
        switch hosts {
        case .all: return true
        case .network(let network, let prefix): return address?.isIn(network, prefix: prefix) ?? false
        case .domain(let domain): return address == nil && (host == domain || host.hasSuffix(".\(domain)"))
        case .below(let domain): return address == nil && host.hasSuffix(".\(domain)")
        }
    }

    /// Splits a text before the colon of a port; an address of IPv6 without brackets has none.
    private static func split(_ text: String) -> (place: String, port: Int?) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
            return (text, nil)
        }
        let place = text[..<colon]
        let hasPort = place.hasPrefix("[") ? place.contains("]") : !place.contains(":")
        return hasPort ? (String(place), port) : (text, nil)
    }

    private static func network(_ text: String) -> (IPAddress, prefix: Int)? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let host = parts.first?.canonicalHost, let address = IPAddress(host) else { return nil }
        guard parts.count == 2 else { return (address, address.bitCount) }
        // The prefix counts the bits of the address as it is written.
        let isMapped = address.bitCount == 32 && parts[0].contains(":")
        guard let bits = Int(parts[1]).map({ isMapped ? $0 - 96 : $0 }), 0...address.bitCount ~= bits else {
            return nil
        }
        return (address, bits)
    }
}
#endif

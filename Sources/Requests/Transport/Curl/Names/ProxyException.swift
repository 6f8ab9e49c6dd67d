// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// An entry of `no_proxy`, that is, hosts to which requests are sent without a proxy.
///
/// Hosts are compared in canonical form, because otherwise, a request could reach the proxy just because the entry has
/// another spelling of the same host. As in other programs, but unlike in libcurl, entries may be of the form
/// `*.example.com`, or contain a port.
struct ProxyException: Sendable, Hashable {
    private enum Hosts: Sendable, Hashable {
        case all
        /// A domain and its subdomains.
        case domain(String)
        /// The subdomains of a domain.
        case subdomains(String)
        /// An address or a network, such as `10.0.0.0/8` (RFC 4632, 3.1).
        case network(IPAddress, prefix: Int)
    }

    private let hosts: Hosts
    /// The port that the entry is limited to; `nil` for all ports.
    private let port: Int?

    /// Parses an entry; returns `nil` if it can't match any host.
    ///
    /// An entry is `*` for all hosts, an address, a network, a domain with its subdomains (`example.com` or
    /// `.example.com`), or only its subdomains (`*.example.com`). A port limits the entry to that port.
    init?(_ text: some StringProtocol) {
        let (host, port) = Self.split(String(text))
        self.port = port
        if host == "*" {
            hosts = .all
        } else if let (address, prefix) = Self.network(host) {
            hosts = .network(address, prefix: prefix)
        } else {
            let isWildcard = host.hasPrefix("*.")
            let domain = String(host.dropFirst(isWildcard ? 2 : 0).drop { $0 == "." }).canonicalHost
            guard !domain.isEmpty else { return nil }
            hosts = isWildcard ? .subdomains(domain) : .domain(domain)
        }
    }

    /// Returns whether the entry includes this port of a host, which must be in canonical form.
    func includes(_ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        let address = IPAddress(host.prefix { $0 != "%" })
        switch hosts {
        case .all: return true
        case .network(let network, let prefix): return address?.isIn(network, prefix: prefix) ?? false
        case .domain(let domain): return address == nil && (host == domain || host.hasSuffix(".\(domain)"))
        case .subdomains(let domain): return address == nil && host.hasSuffix(".\(domain)")
        }
    }

    /// Splits an entry into host and port; an IPv6 address without brackets can't have a port.
    private static func split(_ text: String) -> (host: String, port: Int?) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
            return (text, nil)
        }
        let host = text[..<colon]
        let hasPort = host.hasPrefix("[") ? host.contains("]") : !host.contains(":")
        return hasPort ? (String(host), port) : (text, nil)
    }

    private static func network(_ text: String) -> (IPAddress, prefix: Int)? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let host = parts.first?.canonicalHost, let address = IPAddress(host) else { return nil }
        guard parts.count == 2 else { return (address, address.bitCount) }
        // The prefix length of an IPv4-mapped IPv6 address includes the 96 bits before the IPv4 address.
        let isMapped = address.bitCount == 32 && parts[0].contains(":")
        guard let bits = Int(parts[1]).map({ isMapped ? $0 - 96 : $0 }), 0...address.bitCount ~= bits else {
            return nil
        }
        return (address, bits)
    }
}
#endif

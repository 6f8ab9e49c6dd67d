// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An address in the terms of cookies (RFC 6265, 5.1.2 to 5.1.4).
struct CookieAddress: Sendable, Hashable {
    /// The host, in its canonical form for comparison.
    let host: String
    /// Whether the connection is encrypted.
    ///
    /// A host on this machine is no exception: any program can listen on its ports.
    let isSecure: Bool
    /// The path, escaped, with its slash.
    let path: String

    /// Reads an address; `nil` if it has no host that could have cookies.
    ///
    /// A host that isn't a plain ASCII name or address is refused: different components could read it differently.
    init?(_ url: URL) {
        guard let host = url.wireHost?.canonicalHost, HostPattern.isHost(host) else { return nil }
        self.host = host
        let scheme = url.scheme?.lowercasedASCII
        isSecure = scheme == "https" || scheme == "wss"
        let path = url.path(percentEncoded: true)
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
    }

    /// Whether the host is a number, and has no parent domains: an IPv6 address, or a number as the top domain.
    var isNumeric: Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy(ASCII.isDigit)
    }

    /// The path of a cookie without one: that of the request, up to its last slash (RFC 6265, 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The domains whose cookies the host may get: its own name, and those above it except the top domain.
    ///
    /// - Complexity: O(n²) in the labels, of which a host of 253 bytes has few.
    var domains: [String] {
        var domains = [host]
        guard !isNumeric else { return domains }
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            guard rest.utf8.contains(UInt8(ascii: ".")) else { break }
            domains.append(String(rest))
        }
        return domains
    }

    /// Whether the host is a subdomain of a domain (RFC 6265, 5.1.3).
    func isBelow(_ domain: String) -> Bool {
        !isNumeric && host.isSubdomain(of: domain)
    }
}

extension String {
    /// Whether the name is another one with labels before it.
    func isSubdomain(of domain: String) -> Bool {
        guard utf8.count > domain.utf8.count + 1, utf8.reversed().starts(with: domain.utf8.reversed()) else {
            return false
        }
        return utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Whether a request's path is a cookie's path or below it (RFC 6265, 5.1.4).
    func isPath(below other: String) -> Bool {
        guard utf8.starts(with: other.utf8) else { return false }
        let slash = UInt8(ascii: "/")
        return utf8.count == other.utf8.count || other.utf8.last == slash
            || utf8.dropFirst(other.utf8.count).first == slash
    }
}

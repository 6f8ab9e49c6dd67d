// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The parts of a URL that decide which cookies apply to it (RFC 6265, 5.1.2 to 5.1.4).
struct CookieAddress: Sendable, Hashable {
    /// The canonicalized host.
    let host: String
    /// Whether the connection is encrypted.
    ///
    /// `localhost` isn't treated as secure, because any local program can listen on its ports.
    let isSecure: Bool
    /// The percent-encoded path, which begins with a slash.
    let path: String

    /// Creates the address of a URL; `nil` if its host can't have cookies.
    ///
    /// The host must be a plain ASCII name or an IP address, because different software could interpret other hosts
    /// differently.
    init?(_ url: URL) {
        guard let host = url.wireHost?.canonicalHost, HostPattern.isHost(host) else { return nil }
        self.host = host
        let scheme = url.scheme?.lowercasedASCII
        isSecure = scheme == "https" || scheme == "wss"
        let path = url.path(percentEncoded: true)
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
    }

    /// Whether the host has no parent domains, because it is an IPv6 address or its last label is a number.
    var isNumeric: Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy(ASCII.isDigit)
    }

    /// The default path of a cookie, which is the request's path up to the last slash (RFC 6265, 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The domains whose cookies may be sent to the host: the host itself, and its parent domains except the top-level
    /// domain.
    ///
    /// - Complexity: O(n²) in the number of labels, which is small in a host of at most 253 bytes.
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

    /// Returns whether the host is a subdomain of a domain (RFC 6265, 5.1.3).
    func isBelow(_ domain: String) -> Bool {
        !isNumeric && host.isSubdomain(of: domain)
    }
}

extension String {
    func isSubdomain(of domain: String) -> Bool {
        guard utf8.count > domain.utf8.count + 1, utf8.reversed().starts(with: domain.utf8.reversed()) else {
            return false
        }
        return utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Returns whether this request path equals a cookie's path, or is below it (RFC 6265, 5.1.4).
    func isPath(below other: String) -> Bool {
        guard utf8.starts(with: other.utf8) else { return false }
        let slash = UInt8(ascii: "/")
        return utf8.count == other.utf8.count || other.utf8.last == slash
            || utf8.dropFirst(other.utf8.count).first == slash
    }
}

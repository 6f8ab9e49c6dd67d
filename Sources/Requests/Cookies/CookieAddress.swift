// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An address as the rules of cookies see it (RFC 6265, 5.1.2 to 5.1.4).
struct CookieAddress: Sendable, Hashable {
    /// The host, in the one form in which hosts are compared.
    let host: String
    /// Whether nobody on the way reads along.
    ///
    /// A host on this machine is no exception: its ports are anybody's.
    let isSecure: Bool
    /// The path, escaped, with its slash.
    let path: String

    /// Looks at an address; nil where it has no host that could have cookies.
    ///
    /// A host that is no plain ASCII name or address isn't guessed at: what one component reads in it, another may not.
    init?(_ url: URL) {
        guard let host = url.host(percentEncoded: false) else { return nil }
        let canonical = HostPattern.canonical(host)
        guard Self.isHost(canonical) else { return nil }
        self.host = canonical
        let scheme = url.scheme?.lowercasedASCII
        isSecure = scheme == "https" || scheme == "wss"
        let path = url.path(percentEncoded: true)
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
    }

    /// Whether a text, in lower case, names a host: without that, it is nobody's domain either.
    static func isHost(_ text: String) -> Bool {
        guard 1...253 ~= text.utf8.count else { return false }
        var previous = UInt8(ascii: ".")
        for byte in text.utf8 {
            // An empty label is none.
            guard byte.isOfHost, byte != UInt8(ascii: ".") || previous != byte else { return false }
            previous = byte
        }
        return previous != UInt8(ascii: ".")
    }

    /// Whether the host is a number, and so below nobody: of version 6, or with a number where the top domain would be.
    var isNumeric: Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || host.utf8.reversed().prefix { $0 != UInt8(ascii: ".") }.allSatisfy(ASCII.isDigit)
    }

    /// The path of a cookie that has none of its own: that of the request, up to its last slash (RFC 6265, 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The domains whose cookies may be for the host: its own name, and those above it but the topmost.
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

    /// Whether the host is one below a domain (RFC 6265, 5.1.3).
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

    /// Whether a request's path is a cookie's or one below it (RFC 6265, 5.1.4).
    func isPath(below other: String) -> Bool {
        guard utf8.starts(with: other.utf8) else { return false }
        let slash = UInt8(ascii: "/")
        return utf8.count == other.utf8.count || other.utf8.last == slash
            || utf8.dropFirst(other.utf8.count).first == slash
    }
}

extension UInt8 {
    fileprivate var isOfHost: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: false
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The host and port that a transfer connects to, as parsed from a URL.
struct CurlDestination: Sendable {
    let url: String
    let isSecure: Bool
    /// The host in lower case and without a trailing dot, if it is a name that must be looked up; otherwise `nil`.
    let name: String?
    /// The host in lower case, as libcurl looks it up; empty if the URL has no host.
    let lookupHost: String
    let port: Int
    /// The host in the canonical form in which hosts are compared; empty if the URL has no host.
    let canonicalHost: String

    /// Parses a URL.
    ///
    /// - Parameter url: The absolute `http` or `https` URL, without user information.
    init(_ url: String) {
        self.url = url
        var url = url
        (isSecure, lookupHost, port, name) = url.withUTF8 { bytes in
            let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
            let start = min(scheme + 3, bytes.count)
            let authority = bytes[start...].prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
            // Skip the colons of an IPv6 address within brackets.
            let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? start
            let colon = authority[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            let host = Self.text(bytes[start..<colon])
            let port = Int(Self.text(authority[colon...].dropFirst()))
            return (scheme == 5, host, port ?? (scheme == 5 ? 443 : 80), Self.name(host))
        }
        canonicalHost = name ?? lookupHost.canonicalHost
    }

    /// The host in lower case; empty if the URL has no host.
    var host: String { name ?? lookupHost }

    /// The host and port as they appear in the URL.
    var authority: Substring {
        url[url.index(url.startIndex, offsetBy: isSecure ? 8 : 7)...].prefix { !"/?#".contains($0) }
    }

    var origin: Origin { Origin(scheme: isSecure ? "https" : "http", host: canonicalHost, port: port) }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { text in
            for (position, byte) in bytes.enumerated() { text[position] = ASCII.lowercased(byte) }
            return bytes.count
        }
    }

    /// Returns a host's name, without a trailing dot, if the name must be looked up; otherwise `nil`.
    ///
    /// A host whose last label is a number is an IP address, which needs no lookup. libcurl resolves `localhost` and
    /// hosts with invalid characters itself.
    private static func name(_ host: String) -> String? {
        let host = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        let label = host.utf8.lastIndex(of: UInt8(ascii: ".")).map { host.utf8[$0...].dropFirst() } ?? host.utf8[...]
        guard !isNumber(label), !label.elementsEqual("localhost".utf8) else { return nil }
        let isName = host.utf8.allSatisfy {
            ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
        }
        return isName ? host : nil
    }

    /// Returns whether a label is a decimal or hexadecimal number, or empty.
    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        guard label.starts(with: "0x".utf8) else { return label.allSatisfy(ASCII.isDigit) }
        return label.dropFirst(2).allSatisfy { ASCII.isDigit($0) || (0x61...0x66).contains($0) }
    }
}
#endif

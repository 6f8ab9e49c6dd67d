// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The host and the port that a transfer connects to.
struct CurlDestination: Sendable {
    let address: String
    let isSecure: Bool
    /// The host in lower case and without the dot of the root, if it is a name that has to be looked up.
    let name: String?
    /// The host name that libcurl looks up; empty in an address without a host.
    let lookupHost: String
    let port: Int
    /// The host in the form in which hosts are compared; empty in an address without one.
    let canonicalHost: String

    /// - Parameter address: An address that is whole: with its scheme, and without a user.
    init(_ address: String) {
        self.address = address
        var address = address
        (isSecure, lookupHost, port, name) = address.withUTF8 { bytes in
            let scheme = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
            let start = min(scheme + 3, bytes.count)
            let authority = bytes[start...].prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
            // An address of IPv6 has colons of its own, within brackets.
            let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? start
            let colon = authority[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            let host = Self.text(bytes[start..<colon])
            let port = Int(Self.text(authority[colon...].dropFirst()))
            return (scheme == 5, host, port ?? (scheme == 5 ? 443 : 80), Self.name(host))
        }
        canonicalHost = name ?? lookupHost.canonicalHost
    }

    /// The host in lower case; empty in an address without one.
    var host: String { name ?? lookupHost }

    /// The host and the port as they appear in the address.
    var authority: Substring {
        address[address.index(address.startIndex, offsetBy: isSecure ? 8 : 7)...].prefix { !"/?#".contains($0) }
    }

    var origin: Origin { Origin(scheme: isSecure ? "https" : "http", host: canonicalHost, port: port) }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { text in
            for (position, byte) in bytes.enumerated() { text[position] = ASCII.lowercased(byte) }
            return bytes.count
        }
    }

    /// The name of a host, if that has to be looked up.
    ///
    /// An address hasn't, whose last label is a number, nor has the machine itself, which libcurl knows. What has other
    /// characters than names have is left to libcurl as well.
    private static func name(_ host: String) -> String? {
        let host = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        let label = host.utf8.lastIndex(of: UInt8(ascii: ".")).map { host.utf8[$0...].dropFirst() } ?? host.utf8[...]
        guard !isNumber(label), !label.elementsEqual("localhost".utf8) else { return nil }
        let isName = host.utf8.allSatisfy {
            ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
        }
        return isName ? host : nil
    }

    /// Whether a label is a number, decimal or hexadecimal, or empty.
    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        guard label.starts(with: "0x".utf8) else { return label.allSatisfy(ASCII.isDigit) }
        return label.dropFirst(2).allSatisfy { ASCII.isDigit($0) || (0x61...0x66).contains($0) }
    }
}
#endif

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The host and the port that a transfer connects to.
struct CurlDestination: Sendable {
    let address: String
    let isSecure: Bool
    /// The host in lower case and without the dot of the root, if it is a name that has to be looked up.
    let name: String?
    /// The position of the host in the bytes of the address, and the digits of its port.
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
            let name = Self.name(host)
            return (scheme == 5, start..<colon, min(colon + 1, authority.endIndex)..<authority.endIndex, name)
        }
    }

    /// The host in lower case; empty in an address without one.
    var host: String { name ?? text(place) }

    /// The host as libcurl looks for its addresses.
    var hostOfAddresses: String { text(place) }

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

    /// The name of a host, if that has to be looked up.
    ///
    /// An address hasn't, whose last label is a number, nor has the machine itself, which libcurl knows. What has other
    /// characters than names have is left to libcurl as well.
    private static func name(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        let host = host.last == UInt8(ascii: ".") ? host.dropLast() : host
        let label = host.lastIndex(of: UInt8(ascii: ".")).map { host[($0 + 1)...] } ?? host
        guard !isNumber(label), !label.elementsEqual("localhost".utf8, by: { ASCII.lowercased($0) == $1 }) else {
            return nil
        }
        let isName = host.allSatisfy {
            ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
        }
        return isName ? text(host) : nil
    }

    /// Whether a label is a number, decimal or hexadecimal, or empty.
    private static func isNumber(_ label: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard label.count > 1, label.first == UInt8(ascii: "0"), ASCII.lowercased(label[label.startIndex + 1]) == 0x78
        else { return label.allSatisfy(ASCII.isDigit) }
        return label.dropFirst(2).allSatisfy { ASCII.isDigit($0) || (0x61...0x66).contains(ASCII.lowercased($0)) }
    }
}
#endif

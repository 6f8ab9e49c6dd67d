// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension String {
    /// The canonical form of a host, for comparisons.
    ///
    /// - The canonical form of a name is its lowercased wire form, without a trailing dot. For example, the form of
    ///   `Bücher.example.` is `xn--bcher-kva.example`.
    /// - The canonical form of an IP address has no brackets. For example, it is `127.0.0.1` for `127.1`, `0x7f000001`
    ///   and `[::ffff:127.0.0.1]`, because they all address the same host.
    ///
    /// Origins, cookies, pins and proxy exceptions are all compared in this form.
    var canonicalHost: String {
        var host = wireHost.lowercased()[...]
        if host.utf8.last == UInt8(ascii: ".") { host = host.dropLast() }
        if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
        }
        let text = String(host)
        return text.canonicalIPAddress ?? text
    }

    /// The canonical form of an IPv4 or IPv6 address, without brackets; `nil` if the string isn't an IP address.
    var canonicalIPAddress: String? {
        utf8.contains(UInt8(ascii: ":")) ? canonicalIPv6Address : canonicalIPv4Address
    }

    private var canonicalIPv4Address: String? {
        // Most hosts are names. A host is an IPv4 address only if its last label is a number (WHATWG URL, 3.5).
        let label = utf8.lastIndex(of: UInt8(ascii: ".")).map { utf8[$0...].dropFirst() } ?? utf8[...]
        guard label.first.map(ASCII.isDigit) == true, utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var address = in_addr()
        // Passing the string directly would copy it to an array.
        if withCString({ inet_pton(AF_INET, $0, &address) }) == 1 { return self }
        guard inet_aton(self, &address) != 0 else { return nil }
        return withUnsafeBytes(of: address) { $0.map(String.init).joined(separator: ".") }
    }

    private var canonicalIPv6Address: String? {
        // The zone distinguishes the same address on two networks (RFC 6874).
        if let percent = utf8.firstIndex(of: UInt8(ascii: "%")) {
            let text = self[percent...]
            let zone = text.dropFirst(text.hasPrefix("%25") ? 3 : 1)
            guard !zone.isEmpty, ASCIISet.unreserved.containsAll(zone),
                let address = String(self[..<percent]).canonicalIPv6Address
            else { return nil }
            return "\(address)%25\(zone)"
        }
        var address = in6_addr()
        guard inet_pton(AF_INET6, self, &address) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        // Convert an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) to IPv4.
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return bytes.suffix(4).map(String.init).joined(separator: ".")
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The hosts of a rule: one, those of one domain, or all.
enum HostPattern: Sendable, Hashable {
    /// The host of this name or address.
    case host(String)
    /// The hosts with one label before this domain: `*.example.com` matches `www.example.com`, but neither
    /// `example.com` nor `a.b.example.com`, as in a certificate (RFC 9525, 6.3).
    case below(String)
    /// Every host.
    case any

    /// Reads a host's name or address, or a name with `*` for its first label.
    ///
    /// - Throws: ``InvalidValue`` for a text that can't match the host of an address: its rule would silently never
    ///   apply.
    init(_ text: String) throws(InvalidValue) {
        let isWildcard = text.hasPrefix("*.")
        let name = Self.canonical((isWildcard ? String(text.dropFirst(2)) : text).wireHost)
        guard Self.isHost(name), !isWildcard || Self.address(name) == nil else {
            throw InvalidValue(.host, "isn't the name of a host (without scheme and port)", excerpt: text)
        }
        self = isWildcard ? .below(name) : .host(name)
    }

    /// The patterns of a host, in the order of their precedence: its own, that of its domain, and that of all.
    static func all(matching host: String) -> [HostPattern] {
        let host = canonical(host)
        let domain = host.firstIndex(of: ".").map { HostPattern.below(String(host[host.index(after: $0)...])) }
        return [.host(host), domain, .any].compactMap(\.self)
    }

    /// The canonical form of a name for comparison: in lower case, without the dot of the root; an address in its usual
    /// form.
    ///
    /// `127.0.0.1` can be written in many ways, and a pin has to apply to all.
    static func canonical(_ host: String) -> String {
        var host = host.lowercased()[...]
        if host.hasSuffix(".") { host = host.dropLast() }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return address(String(host)) ?? String(host)
    }

    /// Whether a text is the name or the address of a host, in canonical form.
    static func isHost(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { 1...63 ~= $0.count && $0.allSatisfy(characters.contains) }
        return isName && text.utf8.count <= 253 || address(text) == text
    }

    // Underscores aren't allowed in hosts (RFC 952), but some have them.
    private static let characters = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-_")

    private static func address(_ host: String) -> String? {
        var (address4, address6) = (in_addr(), in6_addr())
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let size = socklen_t(text.count)
        if inet_pton(AF_INET6, host, &address6) == 1 {
            inet_ntop(AF_INET6, &address6, &text, size)
        } else if host.first?.isNumber == true, !host.contains(where: \.isWhitespace), inet_aton(host, &address4) != 0 {
            inet_ntop(AF_INET, &address4, &text, size)
        } else {
            return nil
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

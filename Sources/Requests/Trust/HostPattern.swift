// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
        let name = (isWildcard ? String(text.dropFirst(2)) : text).canonicalHost
        guard Self.isHost(name), !isWildcard || name.canonicalIPAddress == nil else {
            throw InvalidValue(.host, "isn't the name of a host (without scheme and port)", excerpt: text)
        }
        self = isWildcard ? .below(name) : .host(name)
    }

    /// The patterns of a host, in the order of their precedence: its own, that of its domain, and that of all.
    static func all(matching host: String) -> [HostPattern] {
        let host = host.canonicalHost
        let domain = host.firstIndex(of: ".").map { HostPattern.below(String(host[host.index(after: $0)...])) }
        return [.host(host), domain, .any].compactMap(\.self)
    }

    /// Whether a text is the name or the address of a host, in canonical form.
    static func isHost(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { 1...63 ~= $0.count && $0.allSatisfy(characters.contains) }
        return isName && text.utf8.count <= 253 || text.canonicalIPAddress == text
    }

    // Underscores aren't allowed in hosts (RFC 952), but some have them.
    private static let characters = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-_")
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A pattern for hosts, which matches one host, the direct subdomains of a domain, or all hosts.
enum HostPattern: Sendable, Hashable {
    /// The host with this name or address.
    case host(String)
    /// The hosts with exactly one more label than this domain, as matched by a wildcard in a certificate (RFC 9525,
    /// 6.3).
    ///
    /// For example, `*.example.com` matches `www.example.com`, but neither `example.com` nor `a.b.example.com`.
    case directSubdomains(String)
    /// Every host.
    case any

    /// Parses a host name or address, or a name with `*` as its first label.
    ///
    /// - Throws: ``InvalidValue`` if the string can't match any host, because a rule for it would silently never apply.
    init(_ text: String) throws(InvalidValue) {
        let isWildcard = text.hasPrefix("*.")
        let name = (isWildcard ? String(text.dropFirst(2)) : text).canonicalHost
        guard Self.isHost(name), !isWildcard || name.canonicalIPAddress == nil else {
            throw InvalidValue(.host, "must be a bare host name, without a scheme or port", excerpt: text)
        }
        self = isWildcard ? .directSubdomains(name) : .host(name)
    }

    /// Returns the patterns that match a host, from the most specific to the most general.
    static func all(matching host: String) -> [HostPattern] {
        let host = host.canonicalHost
        let domain = host.firstIndex(of: ".").map {
            HostPattern.directSubdomains(String(host[host.index(after: $0)...]))
        }
        return [.host(host), domain, .any].compactMap(\.self)
    }

    /// Returns whether a string is a host name or address in canonical form.
    static func isHost(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { 1...63 ~= $0.count && $0.allSatisfy(characters.contains) }
        return isName && text.utf8.count <= 253 || text.canonicalIPAddress == text
    }

    // Underscores aren't allowed in host names (RFC 952), but some host names contain them.
    private static let characters = ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-_")
}

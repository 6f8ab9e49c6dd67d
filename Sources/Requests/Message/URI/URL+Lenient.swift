// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// Reads an address from a server, a user or a configuration.
    ///
    /// Spaces and control characters at its ends, such as a line break, don't count. Each `%XX` stays as it is, and
    /// only characters that a part of an address doesn't allow are escaped (RFC 3986). Foundation alone would escape
    /// all of a part again that has one such character: `a=%2F|` would become `a=%252F%7C`, which breaks signed
    /// addresses. A `%` that begins no escape becomes `%25`, since no `URL` can hold it.
    ///
    /// - Parameters:
    ///   - text: The address, absolute or relative.
    ///   - base: The address that a relative one refers to; `nil` leaves it relative.
    /// - Complexity: O(n) in the length of the address.
    package init?(lenient text: String, relativeTo base: URL? = nil) {
        let trimmed = text.trimmedOfControls
        // Foundation takes everything before a colon for a scheme, even if it can't be one.
        let isPath = base != nil && trimmed.hasColonInFirstSegment && !trimmed.prefix { $0 != ":" }.isScheme
        self.init(string: (isPath ? "./" : "") + trimmed.escapedAddress, relativeTo: base)
    }
}

extension String {
    /// The address with `%XX` in the place of all characters that its parts don't allow.
    fileprivate var escapedAddress: String {
        // Nearly every address.
        guard !ASCIISet.plainAddress.containsAll(self) else { return self }
        var rest = utf8[...]
        func take(upTo delimiters: String) -> String {
            let part = rest.prefix { !delimiters.utf8.contains($0) }
            rest = rest[part.endIndex...]
            return String(Substring(part))
        }
        var result = ""
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), self[..<colon].isScheme {
            result += String(self[...colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            result += "//" + take(upTo: "/?#").escapedAuthority
        }
        result += ASCIISet.path.encode(take(upTo: "?#"), keepsTriplets: true)
        if rest.first == UInt8(ascii: "?") { result += "?" + take(upTo: "#").dropFirst().escapedQuery }
        if rest.first == UInt8(ascii: "#") { result += "#" + Substring(rest.dropFirst()).escapedQuery }
        return result
    }

    /// Whether a relative reference could be read as an address with a scheme (RFC 3986, 4.2).
    var hasColonInFirstSegment: Bool { utf8.first { "/?#:".utf8.contains($0) } == UInt8(ascii: ":") }

    /// The string without spaces and control characters at its ends.
    fileprivate var trimmedOfControls: String {
        guard let first = utf8.first, let last = utf8.last, first <= 0x20 || last <= 0x20 else { return self }
        let end = utf8.lastIndex { $0 > 0x20 }.map { utf8.index(after: $0) } ?? utf8.startIndex
        return String(Substring(utf8[..<end].drop { $0 <= 0x20 }))
    }

    /// The authority with an escaped user and password; a host can't be escaped.
    private var escapedAuthority: String {
        guard let at = utf8.lastIndex(of: UInt8(ascii: "@")) else { return self }
        return ASCIISet.user.encode(String(self[..<at]), keepsTriplets: true) + self[at...]
    }
}

extension StringProtocol {
    /// The query or the fragment, escaped.
    fileprivate var escapedQuery: String { ASCIISet.query.encode(String(self), keepsTriplets: true) }
}

extension ASCIISet {
    /// The characters of an address that needs no escaping.
    fileprivate static let plainAddress = query + "#"
    /// The characters of a user and a password, with the colon between them.
    fileprivate static let user = unreserved + "!$&'()*+,;=:"
}

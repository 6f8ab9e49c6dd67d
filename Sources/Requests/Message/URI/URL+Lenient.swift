// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// Parses a URL leniently, as it was written by a server, by a user or in a configuration.
    ///
    /// Spaces and control characters at either end, such as a line break, are ignored. Characters that aren't allowed
    /// in their component are escaped (RFC 3986), but a `%XX` is kept. Foundation, in contrast, would escape an entire
    /// component again if it contained one invalid character: `a=%2F|` would become `a=%252F%7C`, which breaks signed
    /// URLs. A `%` that isn't followed by two hexadecimal digits becomes `%25`, because a `URL` can't contain it.
    ///
    /// - Parameters:
    ///   - text: The URL, absolute or relative.
    ///   - base: The URL against which a relative URL is resolved; with `nil`, it stays relative.
    /// - Complexity: O(n) in the length of the URL.
    package init?(lenient text: String, relativeTo base: URL? = nil) {
        let trimmed = text.trimmedOfControls
        // Foundation treats everything before the first colon as the scheme, even if it isn't a valid scheme.
        let isPath = base != nil && trimmed.hasColonInFirstSegment && !trimmed.prefix { $0 != ":" }.isScheme
        self.init(string: (isPath ? "./" : "") + trimmed.escapedAddress, relativeTo: base)
    }
}

extension String {
    /// The URL, in which all characters that aren't allowed in their component are percent-encoded.
    fileprivate var escapedAddress: String {
        // Nearly all URLs need no escaping.
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

    /// Whether the first segment of a relative reference would be parsed as a scheme (RFC 3986, 4.2).
    var hasColonInFirstSegment: Bool { utf8.first { "/?#:".utf8.contains($0) } == UInt8(ascii: ":") }

    /// The string, with spaces and control characters removed from both ends.
    fileprivate var trimmedOfControls: String {
        guard let first = utf8.first, let last = utf8.last, first <= 0x20 || last <= 0x20 else { return self }
        let end = utf8.lastIndex { $0 > 0x20 }.map { utf8.index(after: $0) } ?? utf8.startIndex
        return String(Substring(utf8[..<end].drop { $0 <= 0x20 }))
    }

    /// The authority with an escaped user name and password; the host can't be escaped.
    private var escapedAuthority: String {
        guard let at = utf8.lastIndex(of: UInt8(ascii: "@")) else { return self }
        return ASCIISet.user.encode(String(self[..<at]), keepsTriplets: true) + self[at...]
    }
}

extension StringProtocol {
    /// The string, escaped for a query or a fragment.
    fileprivate var escapedQuery: String { ASCIISet.query.encode(String(self), keepsTriplets: true) }
}

extension ASCIISet {
    /// A URL that consists only of these characters needs no escaping.
    fileprivate static let plainAddress = query + "#"
    /// The characters of a user name and a password, including the colon between them.
    fileprivate static let user = unreserved + "!$&'()*+,;=:"
}

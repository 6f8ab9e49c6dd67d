// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The replacement of secrets wherever the library shows sent and received data.
package enum Redaction {
    /// The value of a field without secrets: of credentials the scheme, of other text the parts that aren't secrets.
    package static func value(of field: HTTPField) -> String {
        switch field.name {
        case .authorization, .proxyAuthorization: Authorization(field.value).description
        case _ where field.name.isSensitive: "<redacted>"
        case "Sec-WebSocket-Protocol" where field.value.split(separator: ",").contains { $0.utf8.count > 32 }:
            // Some APIs take a token for a protocol.
            "<redacted>"
        default: text(field.value)
        }
    }

    /// A text with addresses in it, such as a list of links, each shown like ``address(_:)``.
    ///
    /// - Complexity: O(n).
    static func addresses(in text: String, depth: Int = 0) -> String {
        var result = ""
        var rest = text.utf8[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !delimiters.contains($0) }
            result += address(String(Substring(piece)), depth: depth)
            rest = rest[piece.endIndex...]
            if let delimiter = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(delimiter)) }
        }
        return result
    }

    /// The characters around an address in a text.
    static let delimiters = ASCIISet("<>\" \t\r\n")

    /// An address without its user and password, and without the values of parameters that are secrets by their name.
    ///
    /// Parameters are found in the query, in the fragment, where OAuth has them, and in the path, where sessions are.
    /// A text inside the address, such as the target of a login, is redacted as well.
    ///
    /// - Complexity: O(n).
    package static func address(_ address: String) -> String { self.address(address, depth: 0) }

    static func address(_ address: String, depth: Int) -> String {
        let text = withoutUser(address)
        // Bytes, not characters: a combining character behind a delimiter would hide it.
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let query = text.utf8[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        return pairs(text[..<query], separatedBy: "/;&", depth: depth)
            + pairs(text[query..<fragment], separatedBy: "?&;", depth: depth)
            + pairs(text[fragment...], separatedBy: "#?&;", depth: depth)
    }

    /// A text without users and passwords: what stands between two slashes and the last at sign before the next
    /// delimiter.
    private static func withoutUser(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var (result, rest) = ("", text.utf8[...])
        // In the address itself a password may have these signs; in one inside of it they end a parameter.
        var delimiters = "/?#"
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            result += String(Substring(rest[...slash]))
            let isSecond = slash > text.startIndex && text.utf8[text.utf8.index(before: slash)] == UInt8(ascii: "/")
            rest = rest[rest.index(after: slash)...]
            guard isSecond else { continue }
            let authority = rest.prefix { !delimiters.utf8.contains($0) }
            delimiters = "/?#&;,"
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        }
        return result + String(Substring(rest))
    }

    /// An address for display: like ``address(_:)``, but without anything behind the scheme if a password may be there.
    ///
    /// - Complexity: O(n).
    static func displayAddress(_ address: String) -> String {
        let (scheme, rest) = split(address)
        return rest == nil ? "\(scheme)…" : self.address(address)
    }

    /// An address without parts that may be secrets: credentials, query, fragment, and the parameters of its path.
    ///
    /// The text may be an invalid address.
    ///
    /// - Complexity: O(n).
    static func bareAddress(_ address: String) -> String {
        let (scheme, rest) = split(address)
        guard let rest else { return "\(scheme)…" }
        let segments = rest.prefix { !"?#".utf8.contains($0) }
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { segment in String(Substring(segment.prefix { $0 != UInt8(ascii: ";") })) }
        return scheme + segments.joined(separator: "/")
    }

    /// An address's scheme with its colon and slashes, which may be missing, and the rest without user and password.
    ///
    /// The rest is `nil` if an at sign may end a password that contains a delimiter, and so ends anywhere.
    private static func split(_ address: String) -> (scheme: String, rest: Substring.UTF8View?) {
        let name = address.utf8.prefix { ASCIISet.scheme.contains($0) || $0 == UInt8(ascii: ":") }
        var rest = address.utf8[...]
        guard name.isEmpty || name.last == UInt8(ascii: ":"), rest[name.endIndex...].starts(with: "//".utf8) else {
            // A user before a host has a colon behind, or no slash before the sign; a name begins with it.
            let colon = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            let first = rest.prefix { !"/?#".utf8.contains($0) }.dropFirst()
            let mayHaveUser = rest[colon...].contains(UInt8(ascii: "@")) || first.contains(UInt8(ascii: "@"))
            return ("", mayHaveUser ? nil : rest)
        }
        rest = rest[rest.index(name.endIndex, offsetBy: 2)...]
        let scheme = String(address[..<rest.startIndex])
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            rest = rest[rest.index(after: at)...]
            return (scheme, rest.prefix { !"?#".utf8.contains($0) }.contains(UInt8(ascii: "@")) ? nil : rest)
        }
        guard authority.first != UInt8(ascii: "["), let colon = authority.firstIndex(of: UInt8(ascii: ":")) else {
            return (scheme, rest)
        }
        let port = authority[authority.index(after: colon)...]
        guard !port.isEmpty, port.allSatisfy(ASCII.isDigit) else {
            return (scheme, rest.contains(UInt8(ascii: "@")) ? nil : rest)
        }
        // Directly behind what looks like a port, a query may belong to a password as well; behind a path it is too far
        // away. A segment that begins with the sign is a name, as of a user or a package.
        let behind = rest[authority.endIndex...]
        let path = behind.first == UInt8(ascii: "/") ? behind.prefix { !"?#".utf8.contains($0) } : behind
        guard let at = path.lastIndex(of: UInt8(ascii: "@")) else { return (scheme, rest) }
        return (scheme, path[..<at].last == UInt8(ascii: "/") ? rest : nil)
    }

    /// A text of `name=value` pairs without the values of those that are secrets by their name.
    static func pairs(_ text: Substring, separatedBy separators: String, depth: Int = 0) -> String {
        var result = ""
        var rest = text.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { !separators.utf8.contains($0) }
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            let value = name.endIndex < pair.endIndex ? Substring(pair[name.endIndex...].dropFirst()) : nil
            if let value, secretName(name).hides(value) || holdsSecret(value, depth) {
                result += "\(name)=REDACTED"
            } else {
                result += value == nil && holdsSecret(name, depth) ? "REDACTED" : String(Substring(pair))
            }
            rest = rest[pair.endIndex...]
            if let separator = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(separator)) }
        }
        return result
    }

    /// Whether a value of a parameter is a text with a secret in it, escaped or not.
    private static func holdsSecret(_ value: Substring, _ depth: Int) -> Bool {
        if value.utf8.contains(UInt8(ascii: "%")) {
            let inner = value.replacing("+", with: " ").removingPercentEncoding
            return inner.map { $0 != value && text($0, depth: depth + 1) != $0 } ?? false
        }
        return json(String(value), depth: depth + 1).map { $0 != value } ?? false
    }

    /// Whether a value of that name is most likely a secret; of a name within another, such as `user[pin]`, the last
    /// counts.
    package static func namesSecret(_ name: some StringProtocol) -> Bool { secretName(name).isSecret }

    /// Judges a name that may be escaped, and may be within another.
    static func secretName(_ name: some StringProtocol) -> SecretName {
        let name = name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? String(name) : String(name)
        let whole = SecretName(name)
        guard !whole.isSecret, name.utf8.contains(UInt8(ascii: "[")) else { return whole }
        return name.utf8.split { "[]".utf8.contains($0) }.last.map { SecretName(Substring($0)) } ?? whole
    }
}

extension String {
    /// The text without parts that may be secrets in an address.
    package var bareAddress: String { Redaction.bareAddress(self) }
}

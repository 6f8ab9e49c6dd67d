// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Removes secrets from sent and received data wherever the library displays it.
package enum Redaction {
    /// Returns the value of a field for display: only the scheme for credentials, and the value without secrets for
    /// other fields.
    package static func value(of field: HTTPField) -> String {
        switch field.name {
        case .authorization, .proxyAuthorization: Authorization(field.value).description
        case _ where field.name.isSensitive: "<redacted>"
        case "Sec-WebSocket-Protocol" where field.value.split(separator: ",").contains { $0.utf8.count > 32 }:
            // Some APIs misuse `Sec-WebSocket-Protocol` to send a token.
            "<redacted>"
        default: text(field.value)
        }
    }

    /// Redacts a string that contains URLs, such as a list of links.
    ///
    /// Each URL is redacted as in ``address(_:)``.
    ///
    /// - Complexity: O(n).
    static func addresses(in text: String, depth: Int = 0) -> String {
        var result = ""
        var rest = text.utf8[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !addressDelimiters.contains($0) }
            result += address(String(Substring(piece)), depth: depth)
            rest = rest[piece.endIndex...]
            if let delimiter = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(delimiter)) }
        }
        return result
    }

    /// The characters that can surround a URL in a string.
    static let addressDelimiters = ASCIISet("<>\" \t\r\n")

    /// Returns a URL without its user and password, and without the values of parameters that have secret names.
    ///
    /// Parameters are found in the query, in the fragment (used by OAuth), and in the path (used for sessions). URLs
    /// and other strings nested in the URL, such as the URL that a login returns to, are redacted too.
    ///
    /// - Complexity: O(n).
    package static func address(_ address: String) -> String { self.address(address, depth: 0) }

    static func address(_ address: String, depth: Int) -> String {
        let text = removingUserInfo(address)
        // Search bytes instead of characters, because a combining character after a delimiter would hide it.
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let query = text.utf8[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        return pairs(text[..<query], separatedBy: "/;&", depth: depth)
            + pairs(text[query..<fragment], separatedBy: "?&;", depth: depth)
            + pairs(text[fragment...], separatedBy: "#?&;", depth: depth)
    }

    /// Removes users and passwords, that is, everything between `//` and the last at sign before the next delimiter.
    private static func removingUserInfo(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var (result, rest) = ("", text.utf8[...])
        // In the outer URL, a password may contain `&`, `;` and `,`. In a nested URL, they end the parameter.
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

    /// Returns a URL for display, like ``address(_:)``, but shortened to its scheme if it may contain a password.
    ///
    /// - Complexity: O(n).
    static func displayAddress(_ address: String) -> String {
        let (scheme, rest) = split(address)
        return rest == nil ? "\(scheme)…" : self.address(address)
    }

    /// Returns a URL without parts that may be secret: credentials, query, fragment and path parameters.
    ///
    /// The URL may be invalid.
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

    /// Splits a URL into its scheme, with the colon and slashes, and the rest, excluding the user and password.
    ///
    /// The scheme may be empty. The rest is `nil` if an at sign may end a password that contains delimiters, because
    /// the end of the password is then ambiguous.
    private static func split(_ address: String) -> (scheme: String, rest: Substring.UTF8View?) {
        let name = address.utf8.prefix { ASCIISet.scheme.contains($0) || $0 == UInt8(ascii: ":") }
        var rest = address.utf8[...]
        guard name.isEmpty || name.last == UInt8(ascii: ":"), rest[name.endIndex...].starts(with: "//".utf8) else {
            // A string with user info contains a colon before an at sign, or an at sign before the first slash. An at
            // sign at the start belongs to a name instead.
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
        // The apparent port may be the start of a password that contains delimiters. If a path follows, its query is
        // too far away to belong to the password. A path segment that starts with an at sign is a name, such as that of
        // a user or package.
        let remainder = rest[authority.endIndex...]
        let path = remainder.first == UInt8(ascii: "/") ? remainder.prefix { !"?#".utf8.contains($0) } : remainder
        guard let at = path.lastIndex(of: UInt8(ascii: "@")) else { return (scheme, rest) }
        return (scheme, path[..<at].last == UInt8(ascii: "/") ? rest : nil)
    }

    /// Redacts the values with secret names in a string of `name=value` pairs.
    static func pairs(_ text: Substring, separatedBy separators: String, depth: Int = 0) -> String {
        var result = ""
        var rest = text.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { !separators.utf8.contains($0) }
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            let value = name.endIndex < pair.endIndex ? Substring(pair[name.endIndex...].dropFirst()) : nil
            if let value, secretName(name).redacts(value) || containsSecret(value, depth) {
                result += "\(name)=REDACTED"
            } else {
                result += value == nil && containsSecret(name, depth) ? "REDACTED" : String(Substring(pair))
            }
            rest = rest[pair.endIndex...]
            if let separator = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(separator)) }
        }
        return result
    }

    /// Returns whether the value of a parameter contains a secret, percent-encoded or not.
    private static func containsSecret(_ value: Substring, _ depth: Int) -> Bool {
        if value.utf8.contains(UInt8(ascii: "%")) {
            let inner = value.replacing("+", with: " ").removingPercentEncoding
            return inner.map { $0 != value && text($0, depth: depth + 1) != $0 } ?? false
        }
        return json(String(value), depth: depth + 1).map { $0 != value } ?? false
    }

    /// Returns whether a value with this name is most likely a secret.
    ///
    /// For a nested name, such as `user[pin]`, the last part counts.
    package static func isSecretName(_ name: some StringProtocol) -> Bool { secretName(name).isSecret }

    /// Classifies a name that may be percent-encoded and nested.
    static func secretName(_ name: some StringProtocol) -> SecretName {
        let name = name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? String(name) : String(name)
        let fullName = SecretName(name)
        guard !fullName.isSecret, name.utf8.contains(UInt8(ascii: "[")) else { return fullName }
        return name.utf8.split { "[]".utf8.contains($0) }.last.map { SecretName(Substring($0)) } ?? fullName
    }
}

extension String {
    /// The URL without parts that may be secret.
    package var bareAddress: String { Redaction.bareAddress(self) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The replacement of secrets wherever the library shows sent and received data.
package enum Redaction {
    /// The value of a field without secrets: of credentials the scheme, of an address the parts that aren't secrets.
    package static func value(of field: HTTPField) -> String {
        switch field.name {
        case .authorization, .proxyAuthorization: Authorization(field.value).description
        case _ where field.name.isSensitive: "<redacted>"
        case _ where addresses.contains(field.name) || field.value.contains("//") || field.value.contains("?"):
            addresses(in: field.value)
        default: field.value
        }
    }

    /// A text with addresses in it, such as a list of links, each shown like ``address(_:)``.
    ///
    /// - Complexity: O(n).
    static func addresses(in text: String) -> String {
        var result = ""
        var rest = text.utf8[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !"<>\" \t".utf8.contains($0) }
            result += address(String(Substring(piece)))
            rest = rest[piece.endIndex...]
            if let delimiter = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(delimiter)) }
        }
        return result
    }

    /// An address without its user and password, and without the values of parameters that are secrets by their name.
    ///
    /// Parameters are found in the query, in the fragment, where OAuth has them, and in the path, where sessions are.
    /// An address inside the address, such as the target of a login, is redacted as well.
    ///
    /// - Complexity: O(n).
    package static func address(_ address: String) -> String { self.address(address, depth: 0) }

    private static func address(_ address: String, depth: Int) -> String {
        let text = withoutUser(address)
        // Bytes, not characters: a combining character behind a delimiter would hide it.
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let query = text.utf8[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        return pairs(text[..<query], separatedBy: "/;", depth: depth)
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
    static func shownAddress(_ address: String) -> String {
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
    package static func pairs(_ text: Substring, separatedBy separators: String, depth: Int = 0) -> String {
        var result = ""
        var rest = text.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { !separators.utf8.contains($0) }
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            let isSensitive = name.endIndex < pair.endIndex && namesSecret(name)
            let hasValue = name.endIndex < pair.endIndex
            if isSensitive || holdsSecret(hasValue ? Substring(pair[name.endIndex...].dropFirst()) : name, depth) {
                result += hasValue ? "\(name)=REDACTED" : "REDACTED"
            } else {
                result += String(Substring(pair))
            }
            rest = rest[pair.endIndex...]
            if let separator = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(separator)) }
        }
        return result
    }

    /// Whether a text is an escaped address with a secret in it.
    ///
    /// An address that is escaped more than a few times isn't checked.
    private static func holdsSecret(_ value: Substring, _ depth: Int) -> Bool {
        guard depth < 4, value.utf8.contains(UInt8(ascii: "%")), let inner = value.removingPercentEncoding,
            inner.utf8.contains(where: "/?%".utf8.contains)
        else { return false }
        return address(inner, depth: depth + 1) != inner
    }

    /// JSON without the values of members that are secrets by their name.
    static func json(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements):
            .array(elements.map(json))
        case .object(let members):
            .object(Dictionary(members.map { ($0, namesSecret($0) ? "REDACTED" : json($1)) }) { first, _ in first })
        default: value
        }
    }

    /// Whether a value of that name is most likely a secret; of a name within another, such as `user[pin]`, the last
    /// counts.
    package static func namesSecret(_ name: some StringProtocol) -> Bool {
        let name = name.contains("%") ? name.removingPercentEncoding ?? String(name) : String(name)
        guard !SecretName.matches(name) else { return true }
        guard name.utf8.contains(UInt8(ascii: "[")) else { return false }
        return name.utf8.split { "[]".utf8.contains($0) }.last.map { SecretName.matches(Substring($0)) } ?? false
    }

    /// Fields whose value is an address, or begins with one.
    private static let addresses: Set<HTTPField.Name> = [
        .location, .contentLocation, .referer, "Link", "Refresh", "Destination",
    ]
}

extension String {
    /// The text without parts that may be secrets in an address.
    package var bareAddress: String { Redaction.bareAddress(self) }
}

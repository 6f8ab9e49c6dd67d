// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The replacement of secrets wherever the library shows sent and received data.
package enum Redaction {
    /// The value of a field without secrets: of credentials the scheme, of an address the parts that aren't secrets.
    package static func value(of field: HTTPField) -> String {
        switch field.name {
        case .authorization, .proxyAuthorization: Authorization(field.value).description
        case _ where field.name.isSecret: "<redacted>"
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
        // Bytes, not characters: a combining character behind a delimiter would hide it.
        let bytes = address.utf8
        let fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        let (root, pathStart) = root(of: address[..<queryStart])
        return root
            + withoutCredentials(
                pairs(address[pathStart..<queryStart], separatedBy: "/;", depth: depth)
                    + pairs(address[queryStart..<fragmentStart], separatedBy: "?&;", depth: depth)
                    + pairs(address[fragmentStart...], separatedBy: "#?&;", depth: depth)
            )
    }

    /// A text without the part between two slashes and an at sign.
    private static func withoutCredentials(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var result = ""
        var rest = text.utf8[...]
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            let next = rest.index(after: slash)
            result += String(Substring(rest[..<next]))
            rest = rest[next...]
            guard rest.first == UInt8(ascii: "/") else { continue }
            result += "/"
            rest = rest.dropFirst()
            let authority = rest.prefix { !"/?#&;,".utf8.contains($0) }
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
            rest = rest[rest.index(after: at)...]
        }
        return result + String(Substring(rest))
    }

    /// An address for display: like ``address(_:)``, but without a text that may be a password that looks like a port.
    ///
    /// - Complexity: O(n).
    static func shownAddress(_ address: String) -> String {
        guard let slashes = address.range(of: "//") else { return self.address(address) }
        let rest = address.utf8[slashes.upperBound...]
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")), let at = ambiguousEnd(of: authority, in: rest) else {
            return self.address(address)
        }
        return address[..<slashes.upperBound] + "…@" + self.address(String(Substring(rest[at...].dropFirst())))
    }

    /// Scheme, host and port, without credentials; and the position of the path.
    private static func root(of address: Substring) -> (String, Substring.Index) {
        guard let slashes = address.range(of: "//") else { return ("", address.startIndex) }
        let authority = address.utf8[slashes.upperBound...].prefix { $0 != UInt8(ascii: "/") }
        let host =
            authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
        return (String(address[..<slashes.upperBound]) + String(Substring(host)), authority.endIndex)
    }

    /// An address without parts that may be secrets: credentials, query, fragment, and the parameters of its path.
    ///
    /// The text may be an invalid address.
    ///
    /// - Complexity: O(n).
    static func bareAddress(_ address: String) -> String {
        // Bytes, not characters: a combining character behind a delimiter would hide it.
        var rest = address.utf8[...]
        var scheme = ""
        let name = rest.prefix { ASCII.isLetter(ASCII.lowercased($0)) || ASCII.isDigit($0) || "+-.:".utf8.contains($0) }
        if name.isEmpty || name.last == UInt8(ascii: ":"), rest[name.endIndex...].starts(with: "//".utf8) {
            rest = rest[rest.index(name.endIndex, offsetBy: 2)...]
            scheme = String(address[..<rest.startIndex])
        }
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        if !scheme.isEmpty, let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            rest = rest[rest.index(after: at)...]
            // A password that contains both delimiters may end at any of them.
            guard !rest.prefix(while: { !"?#".utf8.contains($0) }).contains(UInt8(ascii: "@")) else {
                return scheme + "…"
            }
        } else if scheme.isEmpty ? mayHoldPassword(rest) : !hasPort(authority) && rest.contains(UInt8(ascii: "@")) {
            // A password that contains a delimiter may end anywhere.
            return scheme + "…"
        } else if !scheme.isEmpty, let at = ambiguousEnd(of: authority, in: rest) {
            return scheme + "…@" + bareAddress(String(Substring(rest[at...].dropFirst())))
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            String(Substring(segment.prefix { $0 != UInt8(ascii: ";") }))
        }
        return scheme + segments.joined(separator: "/")
    }

    /// The at sign that may end a password whose beginning looks like a port, as in `https://bob:123/456@example.com`.
    private static func ambiguousEnd(
        of authority: Substring.UTF8View,
        in address: Substring.UTF8View
    ) -> Substring.UTF8View.Index? {
        guard authority.first != UInt8(ascii: "["), authority.contains(UInt8(ascii: ":")) else { return nil }
        let behind = address[authority.endIndex...]
        // Directly behind a port, a query may belong to it as well; behind a path it is too far away.
        let path = behind.first == UInt8(ascii: "/") ? behind.prefix { !"?#".utf8.contains($0) } : behind
        guard let at = path.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        // A segment that begins with it is a name, as of a user or a package.
        return path[..<at].last == UInt8(ascii: "/") ? nil : at
    }

    /// Whether a text without an authority has a colon and an at sign behind it, like a user and a password.
    private static func mayHoldPassword(_ text: Substring.UTF8View) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text[colon...].contains(UInt8(ascii: "@"))
    }

    /// Whether the text behind the colon of an authority may be a port.
    private static func hasPort(_ authority: Substring.UTF8View) -> Bool {
        guard authority.first != UInt8(ascii: "["), let colon = authority.firstIndex(of: UInt8(ascii: ":")) else {
            return true
        }
        let port = authority[authority.index(after: colon)...]
        return !port.isEmpty && port.allSatisfy(ASCII.isDigit)
    }

    /// A text of `name=value` pairs without the values of those that are secrets by their name.
    package static func pairs(_ text: Substring, separatedBy separators: String) -> String {
        pairs(text, separatedBy: separators, depth: 0)
    }

    private static func pairs(_ text: Substring, separatedBy separators: String, depth: Int) -> String {
        var result = ""
        var rest = text.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { !separators.utf8.contains($0) }
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            let isSecret = name.endIndex < pair.endIndex && namesSecret(name)
            let hasValue = name.endIndex < pair.endIndex
            if isSecret || holdsSecret(hasValue ? Substring(pair[name.endIndex...].dropFirst()) : name, depth) {
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

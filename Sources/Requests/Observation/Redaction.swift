// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What stands in the place of secrets wherever the library shows what it sends and receives.
package enum Redaction {
    /// The value of a field, as far as it is no secret: the scheme of credentials is shown, an address without those of
    /// its parts that are secrets.
    package static func value(of field: HTTPField) -> String {
        switch field.name {
        case .authorization, .proxyAuthorization: Authorization(field.value).description
        case _ where field.name.isSecret: "<redacted>"
        case _ where addresses.contains(field.name): address(field.value)
        default: field.value
        }
    }

    /// An address without its user and password, and without the values of those parameters that are secrets by their
    /// name, wherever they stand: in the query, in the fragment, where OAuth has them, or in the path, where sessions
    /// are.
    ///
    /// - Complexity: O(n).
    package static func address(_ address: String) -> String {
        // Bytes, not characters: a combining character behind a delimiter would hide it.
        let bytes = address.utf8
        let fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        let (root, pathStart) = root(of: address[..<queryStart])
        return root + pairs(address[pathStart..<queryStart], separatedBy: "/;")
            + pairs(address[queryStart..<fragmentStart], separatedBy: "?&;")
            + pairs(address[fragmentStart...], separatedBy: "#?&;")
    }

    /// Scheme, host and port, without credentials; and where the path begins.
    private static func root(of address: Substring) -> (String, Substring.Index) {
        guard let slashes = address.range(of: "//") else { return ("", address.startIndex) }
        let authority = address.utf8[slashes.upperBound...].prefix { $0 != UInt8(ascii: "/") }
        let host =
            authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
        return (String(address[..<slashes.upperBound]) + String(Substring(host)), authority.endIndex)
    }

    /// A text of `name=value` pairs without the values of those that are secrets by their name.
    package static func pairs(_ text: Substring, separatedBy separators: String) -> String {
        var result = ""
        var rest = text.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { !separators.utf8.contains($0) }
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            result += name.endIndex < pair.endIndex && namesSecret(name) ? "\(name)=REDACTED" : String(Substring(pair))
            rest = rest[pair.endIndex...]
            if let separator = rest.popFirst() { result.unicodeScalars.append(Unicode.Scalar(separator)) }
        }
        return result
    }

    /// JSON without the values of those members that are secrets by their name.
    static func json(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements):
            .array(elements.map(json))
        case .object(let members):
            .object(Dictionary(members.map { ($0, namesSecret($0) ? "REDACTED" : json($1)) }) { first, _ in first })
        default: value
        }
    }

    /// Whether what has that name is most likely a secret.
    package static func namesSecret(_ name: some StringProtocol) -> Bool {
        SecretName.matches(name.contains("%") ? name.removingPercentEncoding ?? String(name) : String(name))
    }

    /// Fields whose value is an address, or begins with one.
    private static let addresses: Set<HTTPField.Name> = [
        .location, .contentLocation, .referer, "Link", "Refresh", "Destination",
    ]
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A cookie as a caller sends it back: a name and a value, and nothing else (RFC 6265, 4.2).
///
/// ```swift
/// let headers: HTTPHeaders = [.cookie(Cookie("session", "abc"), Cookie("theme", "dark"))]
/// // Cookie: session=abc; theme=dark
/// ```
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as it is sent.
    public var value: String

    /// Makes a cookie.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Reads the cookies of a `Cookie` field; what is none is passed over.
    ///
    /// - Complexity: O(n) in the length of the text.
    public static func list(parsing text: String) -> [Cookie] {
        text.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(Substring(pair[..<equals])).trimmedOfBlanks
            let value = String(Substring(pair[pair.index(after: equals)...])).trimmedOfBlanks
            return name.isEmpty ? nil : Cookie(name, value)
        }
    }
}

extension Cookie: HTTPFieldValue, CustomStringConvertible {
    /// The cookie as it stands in the field.
    public var rawValue: String { "\(name)=\(value)" }

    /// The name; the value may be a secret, and is left out.
    public var description: String { "\(name.shortened())=<redacted>" }

    /// The cookie itself, where it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` where the name isn't a token, or the value has a semicolon or a control character,
    ///   or a blank at either end.
    public func validated() throws(InvalidRequest) -> Cookie {
        guard name.isToken else {
            throw InvalidRequest(.headerValue, "of Cookie has a name that isn't a token", excerpt: name)
        }
        guard value.isFieldValue, !value.utf8.contains(UInt8(ascii: ";")), value == value.trimmedOfBlanks else {
            throw InvalidRequest(.headerValue, "of Cookie has a value that would end early", excerpt: name)
        }
        return self
    }
}

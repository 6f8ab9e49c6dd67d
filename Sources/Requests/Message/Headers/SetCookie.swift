// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A cookie as a server sets it, with where and for how long it counts (RFC 6265, 4.1).
///
/// ```swift
/// let cookies = response.headers[values: .setCookie].compactMap { SetCookie(parsing: $0) }
/// ```
///
/// It is what the field says, and not yet whether to believe it: that a `Domain` is one of the server's own is for the
/// store to check.
public struct SetCookie: Sendable, Hashable {
    /// Whether a request that another site led to takes the cookie along.
    public enum SameSite: String, Sendable, Hashable {
        /// Never.
        case strict = "Strict"
        /// Only where a person goes there.
        case lax = "Lax"
        /// Always; the cookie has to be secure, too.
        case none = "None"
    }

    /// The name.
    public var name: String
    /// The value, as it was sent.
    public var value: String
    /// The domain that gets the cookie, with those below it, in lower case; nil for the host alone.
    public var domain: String?
    /// The path below which the cookie counts; nil for that of the request.
    public var path: String?
    /// When the cookie ends, or nil where it isn't said; ``maxAge`` comes first.
    public var expires: HTTPDate?
    /// How long the cookie counts, or nil where it isn't said; zero or less ends it at once.
    public var maxAge: Duration?
    /// Whether only TLS carries the cookie.
    public var isSecure = false
    /// Whether scripts don't see the cookie.
    public var isHTTPOnly = false
    /// Whether requests from other sites take it along; nil where it isn't said.
    public var sameSite: SameSite?

    /// Makes a cookie of the session, for the host alone.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The cookie as it is sent back.
    public var cookie: Cookie { Cookie(name, value) }

    /// When the cookie ends, if it came at a time; nil at the end of the session.
    public func end(from now: Date) -> Date? {
        guard let maxAge else { return expires?.date }
        guard maxAge > .zero else { return .distantPast }
        return now.addingTimeInterval(maxAge / .seconds(1))
    }
}

extension SetCookie: HTTPFieldValue, CustomStringConvertible {
    /// The cookie as it stands in the field.
    public var rawValue: String {
        var text = "\(name)=\(value)"
        if let domain { text += "; Domain=\(domain)" }
        if let path { text += "; Path=\(path)" }
        if let expires { text += "; Expires=\(expires.rawValue)" }
        if let maxAge { text += "; Max-Age=\(maxAge.components.seconds)" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        if let sameSite { text += "; SameSite=\(sameSite.rawValue)" }
        return text
    }

    /// The name; the value may be a secret, and is left out.
    public var description: String { cookie.description }

    /// The cookie itself, where it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` where the name isn't a token, or a semicolon or a control character stands in a
    ///   piece.
    public func validated() throws(InvalidRequest) -> SetCookie {
        _ = try cookie.validated()
        for attribute in [domain, path].compactMap(\.self) {
            guard attribute.isFieldValue, !attribute.utf8.contains(UInt8(ascii: ";")) else {
                throw InvalidRequest(.headerValue, "of Set-Cookie has an attribute that would end early", excerpt: name)
            }
        }
        return self
    }
}

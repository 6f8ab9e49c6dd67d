// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A cookie as a server sets it, with its scope and lifetime (RFC 6265, 4.1).
///
/// ```swift
/// let cookies = response.headers[values: .setCookie].compactMap { SetCookie(parsing: $0) }
/// ```
///
/// It is the content of the field, and not yet trusted: the cookie store checks that a `Domain` belongs to the server.
public struct SetCookie: Sendable, Hashable {
    /// Whether a request that another site led to includes the cookie.
    public enum SameSite: String, Sendable, Hashable {
        /// Never.
        case strict = "Strict"
        /// Only if a user goes there.
        case lax = "Lax"
        /// Always; the cookie has to be secure, too.
        case none = "None"
    }

    /// The name.
    public var name: String
    /// The value, as it was sent.
    public var value: String
    /// The domain that receives the cookie, with its subdomains, in lower case; `nil` for the host alone.
    public var domain: String?
    /// The path below which the cookie counts; `nil` for that of the request.
    public var path: String?
    /// The time at which the cookie expires, or `nil` if the field has none; ``maxAge`` takes precedence.
    public var expires: HTTPDate?
    /// The lifetime of the cookie, or `nil` if the field has none; with zero or less it expires at once.
    public var maxAge: Duration?
    /// Whether the cookie is sent over TLS only.
    public var isSecure = false
    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly = false
    /// Whether requests from other sites include it; `nil` if the field doesn't say so.
    public var sameSite: SameSite?

    /// Makes a cookie of the session, for the host alone.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The cookie as it is sent back.
    public var cookie: Cookie { Cookie(name, value) }

    /// The time at which the cookie expires if it was received at `now`; `nil` at the end of the session.
    public func end(from now: Date) -> Date? {
        guard let maxAge else { return expires?.date }
        guard maxAge > .zero else { return .distantPast }
        return now.addingTimeInterval(maxAge / .seconds(1))
    }
}

extension SetCookie: CustomReflectable {
    /// A mirror without the value.
    public var customMirror: Mirror {
        let children: [(String?, Any)] = [
            ("name", name), ("value", "<redacted>"), ("domain", domain as Any), ("path", path as Any),
            ("expires", expires as Any), ("maxAge", maxAge as Any), ("isSecure", isSecure), ("isHTTPOnly", isHTTPOnly),
            ("sameSite", sameSite as Any),
        ]
        return Mirror(self, children: children)
    }
}

extension SetCookie: HTTPFieldValue, CustomStringConvertible {
    /// The cookie as it stands in the field.
    public var rawValue: String {
        var text = "\(name)=\(value)"
        if let domain { text += "; Domain=\(domain)" }
        if let path { text += "; Path=\(path)" }
        if let expires { text += "; Expires=\(expires.rawValue)" }
        if let maxAge { text += "; Max-Age=\(maxAge > .zero ? maxAge.clamped.components.seconds : 0)" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        if let sameSite { text += "; SameSite=\(sameSite.rawValue)" }
        return text
    }

    /// The name; the value may be a secret, and is left out.
    public var description: String { cookie.description }

    /// The cookie itself, if it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` if the name isn't a token, or a piece contains a semicolon or a control character.
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

// MARK: - Parsing

extension SetCookie {
    /// Reads the value of one `Set-Cookie` field, as browsers do (RFC 6265, 5.2); `nil` if they would ignore it.
    ///
    /// A cookie is ignored if it has no name, a control character, or more than 4,096 bytes; an attribute is ignored if
    /// its value has more than 1,024 bytes. Of a repeated attribute, the last counts.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init?(parsing text: String) {
        guard text.isFieldValue else { return nil }
        let pieces = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = pieces.first, let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (name, value) = Self.split(first, at: equals)
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= 4096 else { return nil }
        self.init(name, value)
        for piece in pieces.dropFirst() {
            let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            let (name, value) = Self.split(piece, at: equals)
            guard value.utf8.count <= 1024 else { continue }
            set(name.lowercasedASCII, to: value)
        }
    }

    private mutating func set(_ attribute: String, to value: String) {
        switch attribute {
        case "domain":
            let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercasedASCII
            self.domain = domain.isEmpty ? nil : domain
        case "path": path = value.hasPrefix("/") ? value : nil
        case "expires": if let date = CivilTime(cookieDate: value) { expires = HTTPDate(date) }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = .seconds(seconds) }
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            sameSite = [.strict, .lax, .none].first { $0.rawValue.equalsIgnoringASCIICase(value) }
        default: break
        }
    }

    /// Values above about thirty years are read as that.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        guard digits.count == text.utf8.count else { return 0 }
        return min(Int64(text) ?? .max, 1_000_000_000)
    }

    private static func split(_ piece: Substring.UTF8View, at equals: String.Index) -> (name: String, value: String) {
        let value = equals < piece.endIndex ? piece[piece.index(after: equals)...] : piece[piece.endIndex...]
        return (String(Substring(piece[..<equals])).trimmedOfBlanks, String(Substring(value)).trimmedOfBlanks)
    }
}

extension CivilTime {
    /// Reads the date of a cookie, in any order and with anything between its parts (RFC 6265, 5.1.1).
    init?(cookieDate text: String) {
        var clock: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: { $0.separatesDates }) {
            if clock == nil, let found = Self.clock(token) {
                clock = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, var year else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        self.init(year: year, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
        guard isValid, year >= 1601, second < 60 else { return nil }
    }

    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        // The text behind the third number is ignored if it doesn't begin with a digit; it may be a colon.
        guard parts.count >= 3, let hour = exactNumber(parts[0]), let minute = exactNumber(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return [hour, minute, second]
    }

    private static func exactNumber(_ text: Substring.UTF8View) -> Int? {
        (1...2).contains(text.count) && text.allSatisfy(ASCII.isDigit) ? Int(Substring(text)) : nil
    }

    /// The number at the beginning of a text, if the count of its digits is in the range.
    private static func number(_ text: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = text.prefix(while: ASCII.isDigit)
        return digits.contains(number.count) ? Int(Substring(number)) : nil
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self)
        return HTTPDate.months.firstIndex { $0.equalsIgnoringASCIICase(name) }.map { $0 + 1 }
    }
}

extension UInt8 {
    /// Whether the byte separates the parts of a cookie's date.
    fileprivate var separatesDates: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

/// A cookie as a caller sends it back: only a name and a value (RFC 6265, 4.2).
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

    /// Reads the cookies of a `Cookie` field; invalid ones are skipped.
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

extension Cookie: CustomReflectable {
    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Cookie: HTTPFieldValue, CustomStringConvertible {
    /// The cookie as it stands in the field.
    public var rawValue: String { "\(name)=\(value)" }

    /// The name; the value may be a secret, and is left out.
    public var description: String { "\(name.shortened())=<redacted>" }

    /// The cookie itself, if it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` if the name isn't a token, or the value has a semicolon or a control character, or
    ///   a blank at either end.
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

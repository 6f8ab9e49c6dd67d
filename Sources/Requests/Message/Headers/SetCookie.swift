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
    public func expirationDate(receivedAt now: Date) -> Date? {
        guard let maxAge else { return expires?.date }
        guard maxAge > .zero else { return .distantPast }
        return now.addingTimeInterval(maxAge / .seconds(1))
    }
}

extension SetCookie: HTTPField.Value, DescribedMirror {
    /// The cookie as it stands in the field.
    public var rawValue: String {
        var text = cookie.rawValue
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
    /// - Throws: ``InvalidValue`` if the name isn't a token, or a piece contains a semicolon or a control character.
    public func validated() throws(InvalidValue) -> SetCookie {
        _ = try cookie.validated()
        for attribute in [domain, path].compactMap(\.self) {
            guard attribute.isFieldValue, !attribute.utf8.contains(UInt8(ascii: ";")) else {
                throw InvalidValue(.headerValue, "of Set-Cookie has an invalid domain or path", excerpt: attribute)
            }
        }
        return self
    }
}

// MARK: - Parsing

extension SetCookie {
    /// Reads the value of one `Set-Cookie` field, as browsers do (RFC 6265bis, 5.6); `nil` if they would ignore it.
    ///
    /// A text without `=` is the value of a cookie without a name. A cookie is ignored if it has neither a name nor a
    /// value, a control character, or more than 4,096 bytes, or if its value pretends to be a name with a prefix such
    /// as `__Host-`; an attribute is ignored if its value has more than 1,024 bytes. Of a repeated attribute, the last
    /// counts.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init?(parsing text: String) {
        guard text.isFieldValue else { return nil }
        let pieces = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        var (name, value) = pieces[0].pair
        if name.isEmpty || !pieces[0].contains(UInt8(ascii: "=")) { (name, value) = ("", name + value) }
        guard !name.isEmpty || !value.isEmpty && CookieNamePrefix(of: value) == nil,
            name.utf8.count + value.utf8.count <= 4096
        else { return nil }
        self.init(name, value)
        for piece in pieces.dropFirst() {
            let (name, value) = piece.pair
            guard value.utf8.count <= 1024 else { continue }
            set(name.lowercasedASCII, to: value)
        }
    }

    private mutating func set(_ attribute: String, to value: String) {
        switch attribute {
        case "domain":
            // A leading dot is ignored, unless a dot or a blank follows: no host matches such a domain anyway.
            let name = value.hasPrefix(".") ? value.dropFirst() : value[...]
            let isName = name.utf8.first.map { $0 != UInt8(ascii: ".") && !ASCII.isBlank($0) } ?? true
            let domain = (isName ? String(name) : value).lowercasedASCII
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
        if text.utf8.first == UInt8(ascii: "-") { return text.dropFirst().isNumber ? 0 : nil }
        return text.isNumber ? min(Int64(text) ?? .max, 1_000_000_000) : nil
    }
}

/// A beginning of a cookie's name that promises attributes (RFC 6265bis, 4.1.3).
enum CookieNamePrefix: String, CaseIterable {
    case hostHTTP = "__Host-Http-"
    case host = "__Host-"
    case http = "__Http-"
    case secure = "__Secure-"

    /// The prefix of a name, in any case; `nil` if the name promises nothing.
    init?(of name: String) {
        let name = name.lowercasedASCII.utf8
        guard let prefix = Self.allCases.first(where: { name.starts(with: $0.rawValue.lowercasedASCII.utf8) }) else {
            return nil
        }
        self = prefix
    }

    /// Whether scripts mustn't see the cookie.
    ///
    /// Each cookie with a prefix must be secure, too.
    var requiresHTTPOnly: Bool { self == .http || self == .hostHTTP }
    /// Whether only the host, in all its paths, receives the cookie.
    var requiresHost: Bool { self == .host || self == .hostHTTP }
}

extension Substring.UTF8View {
    /// The texts before and behind the first `=`, without blanks around them; without one, the whole and nothing.
    fileprivate var pair: (name: String, value: String) {
        let equals = firstIndex(of: UInt8(ascii: "=")) ?? endIndex
        let value = self[equals...].dropFirst()
        return (String(Substring(self[..<equals]).trimmedOfBlanks), String(Substring(value).trimmedOfBlanks))
    }
}

extension CivilTime {
    /// Reads the date of a cookie, in any order and with anything between its parts (RFC 6265, 5.1.1).
    init?(cookieDate text: String) {
        var (clock, day, month, year): ((hour: Int, minute: Int, second: Int)?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: ASCIISet.betweenDates.contains) {
            let scanner = FieldScanner(Substring(token))
            /// Reads at the beginning of the token; what follows the part is ignored.
            func read<Part>(_ part: inout Part?, _ read: (inout FieldScanner) -> Part?) -> Bool {
                guard part == nil else { return false }
                var scanner = scanner
                part = read(&scanner)
                return part != nil
            }
            _ =
                read(&clock) { $0.clock(digits: 1...2) } || read(&day) { $0.number(1...2) }
                || read(&month) { $0.month(isShort: false) } || read(&year) { $0.number(2...4) }
        }
        guard let clock, let day, let month, var year else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        self.init(year: year, month: month, day: day, clock: clock)
        guard isValid, year >= 1601, second < 60 else { return nil }
    }
}

extension ASCIISet {
    /// What separates the parts of a cookie's date (RFC 6265, 5.1.1).
    fileprivate static let betweenDates = ASCIISet("\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~")
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
        text.utf8.split(separator: UInt8(ascii: ";")).compactMap { piece in
            let (name, value) = piece.pair
            return name.isEmpty || !piece.contains(UInt8(ascii: "=")) ? nil : Cookie(name, value)
        }
    }
}

extension Cookie: HTTPField.Value, DescribedMirror {
    /// The cookie as it stands in the field; without a name, the value alone.
    public var rawValue: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The name; the value may be a secret, and is left out.
    public var description: String { "\(name.shortened())=<redacted>" }

    /// The cookie itself, if it can be sent.
    ///
    /// - Throws: ``InvalidValue`` if there is a name that isn't a token, or a value without a name that contains an
    ///   equals sign, or the value has a semicolon or a control character, or a blank at either end.
    public func validated() throws(InvalidValue) -> Cookie {
        guard name.isToken || name.isEmpty && !value.isEmpty && !value.utf8.contains(UInt8(ascii: "=")) else {
            throw InvalidValue(.headerValue, "of Cookie has an invalid name", excerpt: name)
        }
        guard value.isFieldValue, !value.utf8.contains(UInt8(ascii: ";")), value == value.trimmedOfBlanks else {
            throw InvalidValue(.headerValue, "of Cookie has a character that isn't allowed in a value", excerpt: name)
        }
        return self
    }
}

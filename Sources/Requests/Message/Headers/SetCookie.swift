// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A cookie as set by a server, with its scope and lifetime (RFC 6265, 4.1).
///
/// ```swift
/// let cookies = response.headers[values: .setCookie].compactMap { SetCookie(parsing: $0) }
/// ```
///
/// The cookie is parsed from the field, but not yet trusted. The cookie store checks that its `Domain` covers the
/// server.
public struct SetCookie: Sendable, Hashable {
    /// The policy for sending the cookie with requests from other sites.
    public enum SameSite: String, Sendable, Hashable {
        /// Cross-site requests never include the cookie.
        case strict = "Strict"
        /// Only top-level navigations from other sites include the cookie.
        case lax = "Lax"
        /// All requests include the cookie, which must also be secure.
        case none = "None"
    }

    /// The name.
    public var name: String
    /// The value, verbatim.
    public var value: String
    /// The domain that receives the cookie, including its subdomains, in lower case; `nil` means the host only.
    public var domain: String?
    /// The path prefix for which the cookie is sent; `nil` uses the default path of the request.
    public var path: String?
    /// The time at which the cookie expires, or `nil` if the field has none; ``maxAge`` takes precedence.
    public var expires: HTTPDate?
    /// The lifetime of the cookie, or `nil` if the field has none.
    ///
    /// Zero or less expires the cookie immediately.
    public var maxAge: Duration?
    /// Whether the cookie is sent only over TLS.
    public var isSecure = false
    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly = false
    /// Whether cross-site requests include the cookie; `nil` if the field doesn't specify it.
    public var sameSite: SameSite?

    /// Creates a session cookie that is sent only to the host that set it.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The name and value of the cookie, as a client sends it back.
    public var cookie: Cookie { Cookie(name, value) }

    /// Returns the time at which the cookie expires, or `nil` if it expires at the end of the session.
    ///
    /// - Parameter now: The time at which the cookie was received.
    /// - Returns: The expiration time.
    public func expirationDate(receivedAt now: Date) -> Date? {
        guard let maxAge else { return expires?.date }
        guard maxAge > .zero else { return .distantPast }
        return now.addingTimeInterval(maxAge / .seconds(1))
    }
}

extension SetCookie: HTTPField.Value, DescribedMirror {
    /// The cookie as it appears in the header field.
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

    /// The name without the value, which may be secret.
    public var description: String { cookie.description }

    /// Returns the cookie if it can be sent, and throws an error otherwise.
    ///
    /// - Throws: ``InvalidValue`` if the name isn't a token, or if any part contains a semicolon or a control
    ///   character.
    public func validated() throws(InvalidValue) -> SetCookie {
        _ = try cookie.validated(in: .setCookie)
        for attribute in [domain, path].compactMap(\.self) {
            guard attribute.isFieldValue, !attribute.utf8.contains(UInt8(ascii: ";")) else {
                throw InvalidValue(in: .setCookie, "has an invalid domain or path", excerpt: attribute)
            }
        }
        return self
    }
}

// MARK: - Parsing

extension SetCookie {
    /// Parses the value of a `Set-Cookie` field as browsers do (RFC 6265bis, 5.6); `nil` if they would ignore it.
    ///
    /// A string without `=` is the value of a cookie without a name. A cookie is ignored if it has no name and no
    /// value, if it contains a control character, or if it exceeds 4,096 bytes. It is also ignored if it has no name
    /// and its value starts with a name prefix such as `__Host-`. Attributes whose value exceeds 1,024 bytes are
    /// ignored. If an attribute is repeated, the last one is used.
    ///
    /// - Complexity: O(n) in the length of the string.
    public init?(parsing text: String) {
        guard text.isFieldValue else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        var (name, value) = parts[0].pair
        if name.isEmpty || !parts[0].contains(UInt8(ascii: "=")) { (name, value) = ("", name + value) }
        guard !name.isEmpty || !value.isEmpty && CookieNamePrefix(of: value) == nil,
            name.utf8.count + value.utf8.count <= 4096
        else { return nil }
        self.init(name, value)
        for part in parts.dropFirst() {
            let (name, value) = part.pair
            guard value.utf8.count <= 1024 else { continue }
            set(name.lowercasedASCII, to: value)
        }
    }

    private mutating func set(_ attribute: String, to value: String) {
        switch attribute {
        case "domain":
            // A leading dot is ignored, unless a dot or whitespace follows it. No host matches such a domain anyway.
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

    /// Parses `Max-Age`, limited to about thirty years.
    private static func seconds(_ text: String) -> Int64? {
        if text.utf8.first == UInt8(ascii: "-") { return text.dropFirst().isNumber ? 0 : nil }
        return text.isNumber ? min(Int64(text) ?? .max, 1_000_000_000) : nil
    }
}

/// A prefix of a cookie's name that guarantees certain attributes (RFC 6265bis, 4.1.3).
enum CookieNamePrefix: String, CaseIterable {
    case hostHTTP = "__Host-Http-"
    case host = "__Host-"
    case http = "__Http-"
    case secure = "__Secure-"

    /// Finds the prefix of a cookie's name, ignoring case; `nil` if the name has none.
    init?(of name: String) {
        let name = name.lowercasedASCII.utf8
        guard let prefix = Self.allCases.first(where: { name.starts(with: $0.rawValue.lowercasedASCII.utf8) }) else {
            return nil
        }
        self = prefix
    }

    /// Whether the cookie must be hidden from scripts.
    ///
    /// A cookie with any prefix must also be secure.
    var requiresHTTPOnly: Bool { self == .http || self == .hostHTTP }
    /// Whether only the host may receive the cookie, for all of its paths.
    var requiresHost: Bool { self == .host || self == .hostHTTP }
}

extension Substring.UTF8View {
    /// The strings before and after the first `=`, without surrounding whitespace.
    ///
    /// Without `=`, the name is the entire string.
    fileprivate var pair: (name: String, value: String) {
        let equals = firstIndex(of: UInt8(ascii: "=")) ?? endIndex
        let value = self[equals...].dropFirst()
        return (String(Substring(self[..<equals]).trimmedOfBlanks), String(Substring(value).trimmedOfBlanks))
    }
}

extension CivilTime {
    /// Parses the date of a cookie, whose parts may be in any order and have anything between them (RFC 6265, 5.1.1).
    init?(cookieDate text: String) {
        var (clock, day, month, year): ((hour: Int, minute: Int, second: Int)?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: ASCIISet.cookieDateDelimiters.contains) {
            let scanner = FieldScanner(Substring(token))
            /// Reads a part at the beginning of the token, unless that part has already been read. The rest of the
            /// token is ignored.
            func read<Part>(_ part: inout Part?, _ read: (inout FieldScanner) -> Part?) -> Bool {
                guard part == nil else { return false }
                var scanner = scanner
                part = read(&scanner)
                return part != nil
            }
            _ =
                read(&clock) { $0.clock(digits: 1...2) } || read(&day) { $0.number(1...2) }
                || read(&month) { $0.month(isAbbreviated: false) } || read(&year) { $0.number(2...4) }
        }
        guard let clock, let day, let month, var year else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        self.init(year: year, month: month, day: day, clock: clock)
        guard isValid, year >= 1601, second < 60 else { return nil }
    }
}

extension ASCIISet {
    /// The characters that separate the parts of a cookie's date (RFC 6265, 5.1.1).
    fileprivate static let cookieDateDelimiters = ASCIISet("\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~")
}

/// A cookie as sent by a client, with only a name and a value (RFC 6265, 4.2).
///
/// ```swift
/// let headers: HTTPHeaders = [.cookie(Cookie("session", "abc"), Cookie("theme", "dark"))]
/// // Cookie: session=abc; theme=dark
/// ```
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, verbatim.
    public var value: String

    /// Creates a cookie.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Parses the cookies in the value of a `Cookie` field, and skips invalid cookies.
    ///
    /// - Complexity: O(n) in the length of the string.
    public static func list(parsing text: String) -> [Cookie] {
        text.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let (name, value) = part.pair
            return name.isEmpty || !part.contains(UInt8(ascii: "=")) ? nil : Cookie(name, value)
        }
    }
}

extension Cookie: HTTPField.Value, DescribedMirror {
    /// The cookie as it appears in the field.
    ///
    /// A cookie without a name consists only of its value.
    public var rawValue: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The name without the value, which may be secret.
    public var description: String { "\(name.shortened())=<redacted>" }

    /// Returns the cookie if it can be sent, and throws an error otherwise.
    ///
    /// - Throws: ``InvalidValue`` if the name isn't a token, or if a value without a name is empty or contains an
    ///   equals sign. Also thrown if the value contains a semicolon, a control character, or leading or trailing
    ///   whitespace.
    public func validated() throws(InvalidValue) -> Cookie { try validated(in: .cookie) }

    fileprivate func validated(in field: HTTPField.Name) throws(InvalidValue) -> Cookie {
        guard name.isToken || name.isEmpty && !value.isEmpty && !value.utf8.contains(UInt8(ascii: "=")) else {
            throw InvalidValue(in: field, "has a cookie with an invalid name", excerpt: name)
        }
        guard value.isFieldValue, !value.utf8.contains(UInt8(ascii: ";")), value == value.trimmedOfBlanks else {
            throw InvalidValue(in: field, "has an invalid value for the cookie", excerpt: name)
        }
        return self
    }
}

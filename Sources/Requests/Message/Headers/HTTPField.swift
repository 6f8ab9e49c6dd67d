// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One header line: a name and a value (RFC 9110, 5).
///
/// The fields in everyday use are made of typed values, and your own are one line each:
///
/// ```swift
/// let headers: HTTPHeaders = [.accept(.json), .bearerToken("abc"), HTTPField("X-Attempt", 2)]
///
/// extension HTTPField {
///     static func requestID(_ id: UUID) -> HTTPField { HTTPField("X-Request-ID", id.uuidString) }
/// }
/// ```
///
/// A field isn't checked when it is made, since a subscript or a literal can't throw; it is checked when its request is
/// built, where a bad name or value is an error that names the piece. Nothing is dropped, and nothing bad is sent.
public struct HTTPField: Sendable, CustomStringConvertible {
    /// The name, compared without regard to case.
    public var name: Name
    /// The value, as it stands on the line.
    public var value: String { didSet { flawBox = nil } }
    // Boxed, since every field of every message would be larger for what next to none of them has.
    private var flawBox: FlawBox?

    /// Makes a field.
    public init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Makes a field of a typed value.
    ///
    /// A value that can't be sent leaves ``value`` empty, and its error is thrown when the request is built.
    public init(_ name: Name, _ value: some HTTPFieldValue) {
        self.init(name, checked: { () throws(InvalidRequest) in try value.validated().rawValue })
    }

    /// Makes a field of a number.
    public init(_ name: Name, _ value: some BinaryInteger) {
        self.init(name, value.description)
    }

    /// Makes a field of a time, such as `Sun, 06 Nov 1994 08:49:37 GMT`; it has no fractions of a second.
    public init(_ name: Name, _ date: Date) {
        self.init(name, HTTPDate(date).rawValue)
    }

    /// Makes a field of a locale: its language tag, such as `en-US` (BCP 47).
    public init(_ name: Name, _ locale: Locale) {
        self.init(name, locale.identifier(.bcp47))
    }

    /// Makes a field of a value that may turn out not to be one.
    init(_ name: Name, checked makeValue: () throws(InvalidRequest) -> String) {
        do throws(InvalidRequest) {
            self.init(name, try makeValue())
        } catch {
            self.init(name, "")
            flawBox = FlawBox(error)
        }
    }

    /// What is wrong with the typed value that the field was made of.
    var flaw: InvalidRequest? { flawBox?.error }

    /// The name and the value; a secret value is left out, and so are the secrets of addresses in it.
    public var description: String {
        "\(name): \(name.isSecret ? "<redacted>" : Redaction.value(of: self))"
    }

    /// Whether the value may stand on a header line (RFC 9110, 5.5): no CR, LF, NUL or other control character.
    package var hasValidValue: Bool { value.isFieldValue }

    private final class FlawBox: Sendable {
        let error: InvalidRequest

        init(_ error: InvalidRequest) {
            self.error = error
        }
    }
}

extension HTTPField: CustomReflectable {
    /// A mirror of what the description says, so that `dump` and a debugger's console show no secret either.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension HTTPField: Hashable {
    /// Compares names without regard to case, and values.
    public static func == (lhs: HTTPField, rhs: HTTPField) -> Bool {
        lhs.name == rhs.name && lhs.value == rhs.value && lhs.flaw == rhs.flaw
    }

    /// Hashes name and value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

// MARK: - Values

/// The fields in everyday use, made of what they mean.
extension HTTPField {
    /// The media type of the content.
    public static func contentType(_ type: MediaType) -> HTTPField { HTTPField(.contentType, type) }

    /// How the content is to be presented, with the suggested name of a file.
    public static func contentDisposition(_ disposition: ContentDisposition) -> HTTPField {
        HTTPField(.contentDisposition, disposition)
    }

    /// The length of the content, in bytes.
    ///
    /// Not needed in a request: the transport knows the length of the body, and one that differs is refused.
    public static func contentLength(_ length: Int64) -> HTTPField { HTTPField(.contentLength, length) }

    /// The codings that were applied to the content, in the order in which they were.
    public static func contentEncoding(_ codings: String...) -> HTTPField {
        HTTPField(.contentEncoding, codings.joined(separator: ", "))
    }

    /// The language of the content.
    public static func contentLanguage(_ locale: Locale) -> HTTPField { HTTPField(.contentLanguage, locale) }

    /// The credentials of the caller.
    public static func authorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.authorization, authorization)
    }

    /// The credentials for a proxy.
    public static func proxyAuthorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.proxyAuthorization, authorization)
    }

    /// A token that whoever bears it may use, in `Authorization` (RFC 6750).
    public static func bearerToken(_ token: String) -> HTTPField { authorization(.bearer(token)) }

    /// A user's name and password, in `Authorization` (RFC 7617).
    public static func basicAuth(username: String, password: String) -> HTTPField {
        authorization(.basic(username: username, password: password))
    }

    /// A token of OAuth, in `Authorization`, under the scheme `OAuth`.
    public static func oauth(_ token: String) -> HTTPField { authorization(.oauth(token)) }

    /// The key of the caller, in `X-API-Key`.
    public static func apiKey(_ key: String) -> HTTPField { HTTPField(.apiKey, key) }

    /// The program that makes the request, such as `Recipes/2.1`.
    public static func userAgent(_ userAgent: String) -> HTTPField { HTTPField(.userAgent, userAgent) }

    /// How the message may be cached.
    public static func cacheControl(_ control: CacheControl) -> HTTPField { HTTPField(.cacheControl, control) }

    /// How the message may be cached.
    public static func cacheControl(_ directives: CacheControl.Directive...) -> HTTPField {
        cacheControl(CacheControl(directives))
    }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: Cookie...) -> HTTPField { cookie(cookies) }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: [Cookie]) -> HTTPField {
        HTTPField(
            .cookie,
            checked: { () throws(InvalidRequest) in
                var pairs: [String] = []
                for cookie in cookies { pairs.append(try cookie.validated().rawValue) }
                return pairs.joined(separator: "; ")
            }
        )
    }

    /// A cookie that the server sets.
    public static func setCookie(_ cookie: SetCookie) -> HTTPField { HTTPField(.setCookie, cookie) }

    /// When to try again.
    public static func retryAfter(_ retryAfter: HTTPField.RetryAfter) -> HTTPField {
        HTTPField(.retryAfter, retryAfter)
    }

    /// When the message was made.
    public static func date(_ date: Date) -> HTTPField { HTTPField(.date, date) }

    /// The resource that led to the request; without its user, password and fragment, which nobody else may see.
    public static func referer(_ url: URL) -> HTTPField {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        components?.fragment = nil
        let text = components?.string
        return HTTPField(
            .referer,
            checked: { () throws(InvalidRequest) in
                guard let text else { throw InvalidRequest(.headerValue, "of Referer isn't an address") }
                return text
            }
        )
    }

    /// What makes the server take a repeated request for the same one; a new one by default.
    ///
    /// A request that has it stays the same over its retries, so make it once for each thing that is to happen once.
    public static func idempotencyKey(_ key: String = UUID().uuidString) -> HTTPField {
        HTTPField(.idempotencyKey, key)
    }
}

// MARK: - Parameter

extension HTTPField {
    /// A parameter in the value of a field, such as `charset=utf-8` (RFC 9110, 5.6.6).
    public struct Parameter: Sendable, CustomStringConvertible {
        /// The name, compared without regard to case.
        public var name: String
        /// The value, without quotes and escapes.
        public var value: String

        /// Makes a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// The parameter as it stands in a field: the value is quoted where it isn't a token.
        public var description: String { "\(name)=\(value.asParameterValue)" }
    }
}

extension HTTPField.Parameter: Hashable {
    /// Compares names without regard to case, and values with regard to it, except those of `charset`.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.name.equalsIgnoringASCIICase(rhs.name) else { return false }
        return lhs.isCharset ? lhs.value.equalsIgnoringASCIICase(rhs.value) : lhs.value == rhs.value
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercasedASCII)
        hasher.combine(isCharset ? value.lowercasedASCII : value)
    }

    private var isCharset: Bool { name.equalsIgnoringASCIICase("charset") }
}

extension [HTTPField.Parameter] {
    /// The value of the first parameter of a name; setting it replaces that parameter in its place, nil removes it.
    subscript(named name: String) -> String? {
        get { first { $0.name.equalsIgnoringASCIICase(name) }?.value }
        set {
            let index = firstIndex { $0.name.equalsIgnoringASCIICase(name) }
            switch (index, newValue) {
            case (let index?, let value?): self[index].value = value
            case (nil, let value?): append(HTTPField.Parameter(name, value))
            case (let index?, nil): remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// What is wrong with the parameters: a name that isn't a token, or a control character in a value.
    ///
    /// - Parameters:
    ///   - piece: What the parameters are a part of.
    ///   - prefix: What the reason begins with, such as `of Authorization `.
    ///   - areSecret: Whether values are left out of the error.
    /// - Returns: The error, or nil where nothing is wrong.
    func flaw(_ piece: InvalidRequest.Piece, _ prefix: String = "", areSecret: Bool = false) -> InvalidRequest? {
        for parameter in self {
            guard parameter.name.isToken else {
                return InvalidRequest(
                    piece,
                    prefix + "has a parameter whose name isn't a token",
                    excerpt: areSecret ? "" : parameter.name
                )
            }
            guard parameter.value.isFieldValue else {
                return InvalidRequest(
                    piece,
                    prefix + "has a control character in \(parameter.name.shortened())",
                    excerpt: areSecret ? "" : parameter.value
                )
            }
        }
        return nil
    }
}

/// A value that knows how it stands in a header field, such as ``MediaType`` or ``CacheControl``.
///
/// Conform a type of your own to it where a field of your service has a structure. It can then be the value of an
/// ``HTTPField``, which refuses it when the request is built where ``validated()`` does:
///
/// ```swift
/// struct Priority: HTTPFieldValue {
///     var urgency: Int
///     var rawValue: String { "u=\(urgency)" }
/// }
/// let field = HTTPField("Priority", Priority(urgency: 1))
/// ```
public protocol HTTPFieldValue: Sendable {
    /// The value as it stands in the field.
    var rawValue: String { get }

    /// The value itself, where it can be sent; by default where ``rawValue`` has no control character.
    ///
    /// - Throws: ``InvalidRequest`` that names the piece at fault.
    func validated() throws(InvalidRequest) -> Self
}

extension HTTPFieldValue {
    /// The value itself, where ``rawValue`` has no control character.
    ///
    /// - Throws: ``InvalidRequest`` where it has one.
    public func validated() throws(InvalidRequest) -> Self {
        guard rawValue.isFieldValue else { throw InvalidRequest(.headerValue, "has a control character") }
        return self
    }
}

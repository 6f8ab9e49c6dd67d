// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One header line: a name and a value (RFC 9110, 5).
///
/// Commonly used fields are made of typed values, and your own are one line each:
///
/// ```swift
/// let headers: HTTPHeaders = [.accept(.json), .authorization(.bearer("abc")), HTTPField("X-Attempt", 2)]
///
/// extension HTTPField {
///     static func requestID(_ id: UUID) -> HTTPField { HTTPField("X-Request-ID", id.uuidString) }
/// }
/// ```
///
/// A field isn't checked when it is made, since a subscript or a literal can't throw. It is checked when its request is
/// built: an invalid name or value is an error that names the piece. Nothing is dropped, and nothing invalid is sent.
public struct HTTPField: Sendable, Hashable, DescribedMirror {
    /// The name, compared without regard to case.
    public var name: Name
    /// The value, as it stands on the line.
    public var value: String { didSet { flaws = [] } }
    // At most one, in an array since an inline error would enlarge every field, and almost no field has one.
    private var flaws: [InvalidValue] = []
    // Not compared: a field is the same one, whoever has set it.
    private var origin = IgnoredInEquality(value: Provenance())

    /// Makes a field.
    public init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Makes a field of a typed value.
    ///
    /// A value that can't be sent leaves ``value`` empty, and its error is thrown when the request is built.
    public init(_ name: Name, _ value: some HTTPField.Value) {
        self.init(name, value.rawValue, flaw: value.flaw)
    }

    /// Makes a field of a number.
    public init(_ name: Name, _ value: some BinaryInteger) {
        self.init(name, value.description)
    }

    /// Makes a field of a time, such as `Sun, 06 Nov 1994 08:49:37 GMT`, in whole seconds.
    public init(_ name: Name, _ date: Date) {
        self.init(name, HTTPDate(date).rawValue)
    }

    /// Makes a field of a locale: its language tag, such as `en-US` (BCP 47).
    public init(_ name: Name, _ locale: Locale) {
        self.init(name, locale.identifier(.bcp47))
    }

    /// Makes a field of a value, which is left out if it has an error.
    init(_ name: Name, _ value: String, flaw: InvalidValue?) {
        self.init(name, flaw == nil ? value : "")
        flaws = flaw.map { [$0] } ?? []
    }

    /// The error of the typed value that the field was made of.
    var flaw: InvalidValue? { flaws.first }

    /// Where the field came from.
    var provenance: Provenance {
        get { origin.value }
        set { origin.value = newValue }
    }

    /// The name and the value, without a secret value and without secrets in addresses.
    public var description: String {
        "\(name): \(name.isSensitive ? "<redacted>" : Redaction.value(of: self))"
    }

    /// Whether the value is a valid field value (RFC 9110, 5.5): no CR, LF, NUL or other control character.
    package var hasValidValue: Bool { value.isFieldValue }
}

// MARK: - Values

/// Commonly used fields, made of typed values.
extension HTTPField {
    /// The media type of the content.
    public static func contentType(_ type: MediaType) -> HTTPField { HTTPField(.contentType, type) }

    /// The presentation of the content, with a suggested file name.
    public static func contentDisposition(_ disposition: HTTPField.ContentDisposition) -> HTTPField {
        HTTPField(.contentDisposition, disposition)
    }

    /// The length of the content, in bytes.
    ///
    /// Not needed in a request: the transport knows the length of the body, and refuses one that differs.
    public static func contentLength(_ length: Int64) -> HTTPField { HTTPField(.contentLength, length) }

    /// The credentials of the caller.
    public static func authorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.authorization, authorization)
    }

    /// The credentials for a proxy.
    public static func proxyAuthorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.proxyAuthorization, authorization)
    }

    /// The key of the caller, in `X-API-Key`.
    public static func apiKey(_ key: String) -> HTTPField { HTTPField(.apiKey, key) }

    /// The program that makes the request, such as `Recipes/2.1`.
    public static func userAgent(_ userAgent: String) -> HTTPField { HTTPField(.userAgent, userAgent) }

    /// The caching directives of the message.
    public static func cacheControl(_ control: CacheControl) -> HTTPField { HTTPField(.cacheControl, control) }

    /// The caching directives of the message.
    public static func cacheControl(_ directives: CacheControl.Directive...) -> HTTPField {
        cacheControl(CacheControl(directives))
    }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: Cookie...) -> HTTPField { cookie(cookies) }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: [Cookie]) -> HTTPField {
        let value = cookies.map(\.rawValue).joined(separator: "; ")
        return HTTPField(.cookie, value, flaw: cookies.lazy.compactMap(\.flaw).first)
    }

    /// A key that makes the server treat a repeated request as the same one; a new key by default.
    ///
    /// The field stays the same over retries, so make one for each action that must happen once.
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

        /// The parameter as it stands in a field: the value is quoted if it isn't a token.
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
    /// The value of the first parameter of a name; setting it replaces that parameter in its place, `nil` removes it.
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

    /// The parameters without those that repeat a name: the first counts.
    var withoutRepetitions: Self {
        count < 2 ? self : reduce(into: []) { if $0[named: $1.name] == nil { $0.append($1) } }
    }

    /// The error in the parameters: a name that isn't a token, or a control character in a value.
    ///
    /// - Parameters:
    ///   - piece: The piece of the request that the parameters belong to.
    ///   - prefix: The beginning of the error's reason, such as `of Content-Disposition `.
    /// - Returns: The error, or `nil` if nothing is wrong.
    func flaw(_ piece: InvalidValue.Kind, _ prefix: String = "") -> InvalidValue? {
        for parameter in self {
            guard parameter.name.isToken else {
                let reason = prefix + "has an invalid parameter name"
                return InvalidValue(piece, reason, excerpt: parameter.name)
            }
            guard parameter.value.isFieldValue else {
                let reason = prefix + "has a control character in \(parameter.name.shortened())"
                return InvalidValue(piece, reason, excerpt: parameter.value)
            }
        }
        return nil
    }
}

extension HTTPField {
    /// A value with a text form for a header field, such as ``MediaType`` or ``CacheControl``.
    ///
    /// Conform a type of your own to it if a field of your service has a structure. It can then be the value of an
    /// ``HTTPField``. If ``validated()`` throws, building the request fails with its error:
    ///
    /// ```swift
    /// struct Priority: HTTPField.Value {
    ///     var urgency: Int
    ///     var rawValue: String { "u=\(urgency)" }
    /// }
    /// let field = HTTPField("Priority", Priority(urgency: 1))
    /// ```
    public protocol Value: Sendable {
        /// The value as it stands in the field.
        var rawValue: String { get }

        /// The value itself, if it can be sent; by default if ``rawValue`` has no control character.
        ///
        /// - Throws: ``InvalidValue`` that names the invalid piece.
        func validated() throws(InvalidValue) -> Self
    }
}

extension HTTPField.Value {
    /// The error of the value; `nil` if it can be sent.
    var flaw: InvalidValue? {
        do throws(InvalidValue) {
            _ = try validated()
            return nil
        } catch {
            return error
        }
    }

    /// The value itself, if ``rawValue`` has no control character.
    ///
    /// - Throws: ``InvalidValue`` if it has one.
    public func validated() throws(InvalidValue) -> Self {
        guard rawValue.isFieldValue else { throw InvalidValue(.headerValue, "has a control character") }
        return self
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A header field with a name and a value (RFC 9110, 5).
///
/// Create common fields from typed values, and declare your own in one line each:
///
/// ```swift
/// let headers: HTTPHeaders = [.accept(.json), .authorization(.bearer("abc")), HTTPField("X-Attempt", 2)]
///
/// extension HTTPField {
///     static func requestID(_ id: UUID) -> HTTPField { HTTPField("X-Request-ID", id.uuidString) }
/// }
/// ```
///
/// Creating a field doesn't validate it, because subscripts and literals can't throw. Building the request does, and
/// throws an error that names the invalid part. Nothing is silently dropped, and nothing invalid is sent.
public struct HTTPField: Sendable, Hashable, DescribedMirror {
    /// The name, compared without regard to case.
    public var name: Name
    /// The value as it appears in the message.
    public var value: String { didSet { flaws = [] } }
    // At most one error, in an array, because an inline optional would enlarge every field and almost no field has an
    // error.
    private var flaws: [InvalidValue] = []
    // Excluded from comparison, because equal fields may come from different sources.
    private var provenanceStorage = IgnoredInEquality(value: Provenance())

    /// Creates a field.
    public init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Creates a field from a typed value.
    ///
    /// If the value can't be sent, ``value`` is empty, and building the request throws the value's error.
    public init(_ name: Name, _ value: some HTTPField.Value) {
        self.init(name, value.rawValue, flaw: value.flaw)
    }

    /// Creates a field from a number.
    public init(_ name: Name, _ value: some BinaryInteger) {
        self.init(name, value.description)
    }

    /// Creates a field from a time, such as `Sun, 06 Nov 1994 08:49:37 GMT`, in whole seconds.
    public init(_ name: Name, _ date: Date) {
        self.init(name, HTTPDate(date).rawValue)
    }

    /// Creates a field with the language tag of a locale, such as `en-US` (BCP 47).
    public init(_ name: Name, _ locale: Locale) {
        self.init(name, locale.identifier(.bcp47))
    }

    /// Creates a field from a value, or an empty field with an error.
    init(_ name: Name, _ value: String, flaw: InvalidValue?) {
        self.init(name, flaw == nil ? value : "")
        flaws = flaw.map { [$0] } ?? []
    }

    /// The error of the typed value that the field was created from.
    var flaw: InvalidValue? { flaws.first }

    /// Where the field came from.
    var provenance: Provenance {
        get { provenanceStorage.value }
        set { provenanceStorage.value = newValue }
    }

    /// The name and the value.
    ///
    /// Secret values, and secrets in URLs, are redacted.
    public var description: String {
        "\(name): \(name.isSensitive ? "<redacted>" : Redaction.value(of: self))"
    }

    /// Whether the value is a valid field value (RFC 9110, 5.5), that is, contains no CR, LF, NUL or other control
    /// character.
    package var hasValidValue: Bool { value.isFieldValue }
}

// MARK: - Values

/// Common fields, created from typed values.
extension HTTPField {
    /// Creates a `Content-Type` field with the media type of the content.
    public static func contentType(_ type: MediaType) -> HTTPField { HTTPField(.contentType, type) }

    /// Creates a `Content-Disposition` field with the presentation of the content and a suggested file name.
    public static func contentDisposition(_ disposition: HTTPField.ContentDisposition) -> HTTPField {
        HTTPField(.contentDisposition, disposition)
    }

    /// Creates a `Content-Length` field with the length of the content in bytes.
    ///
    /// Requests don't need this field. The library knows the length of the body, and rejects any other value.
    public static func contentLength(_ length: Int64) -> HTTPField { HTTPField(.contentLength, length) }

    /// Creates an `Authorization` field with the given credentials.
    public static func authorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.authorization, authorization)
    }

    /// Creates a `Proxy-Authorization` field with the given credentials for a proxy.
    public static func proxyAuthorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.proxyAuthorization, authorization)
    }

    /// Creates an `X-API-Key` field with the given API key.
    public static func apiKey(_ key: String) -> HTTPField { HTTPField(.apiKey, key) }

    /// Creates a `User-Agent` field that names the program that makes the request, such as `Recipes/2.1`.
    public static func userAgent(_ userAgent: String) -> HTTPField { HTTPField(.userAgent, userAgent) }

    /// Creates a `Cache-Control` field, with the caching directives of the message.
    public static func cacheControl(_ control: CacheControl) -> HTTPField { HTTPField(.cacheControl, control) }

    /// Creates a `Cache-Control` field, with the caching directives of the message.
    public static func cacheControl(_ directives: CacheControl.Directive...) -> HTTPField {
        cacheControl(CacheControl(directives))
    }

    /// Creates a `Cookie` field, with the cookies that the caller sends back.
    public static func cookie(_ cookies: Cookie...) -> HTTPField { cookie(cookies) }

    /// Creates a `Cookie` field, with the cookies that the caller sends back.
    public static func cookie(_ cookies: [Cookie]) -> HTTPField {
        let value = cookies.map(\.rawValue).joined(separator: "; ")
        return HTTPField(.cookie, value, flaw: cookies.lazy.compactMap(\.flaw).first)
    }

    /// Creates an `Idempotency-Key` field, by which a server recognizes a repeated request; the default is a new key.
    ///
    /// Retries send the same key, so create a new field for each action that must happen only once.
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
        /// The unquoted, unescaped value.
        public var value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// The parameter as it appears in a field, with the value quoted if it isn't a token.
        public var description: String { "\(name)=\(value.asParameterValue)" }
    }
}

extension HTTPField.Parameter: Hashable {
    /// Compares parameters, ignoring the case of names and of `charset` values, but not of other values.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.name.equalsIgnoringASCIICase(rhs.name) else { return false }
        return lhs.isCharset ? lhs.value.equalsIgnoringASCIICase(rhs.value) : lhs.value == rhs.value
    }

    /// Hashes the parameter consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercasedASCII)
        hasher.combine(isCharset ? value.lowercasedASCII : value)
    }

    private var isCharset: Bool { name.equalsIgnoringASCIICase("charset") }
}

extension [HTTPField.Parameter] {
    /// Accesses the value of the first parameter with this name.
    ///
    /// Setting it replaces the parameter in place, or removes it if the new value is `nil`.
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

    /// The parameters without repeated names; the first parameter of each name is kept.
    var withoutRepetitions: Self {
        count < 2 ? self : reduce(into: []) { if $0[named: $1.name] == nil { $0.append($1) } }
    }

    /// Returns an error if the name of a parameter isn't a token, or if a value contains a control character.
    ///
    /// - Parameters:
    ///   - kind: The kind of value that the parameters belong to.
    ///   - field: The header field that has the parameters, if known.
    /// - Returns: The error, or `nil` if all parameters are valid.
    func flaw(_ kind: InvalidValue.Kind, in field: HTTPField.Name? = nil) -> InvalidValue? {
        for parameter in self {
            guard parameter.name.isToken else {
                return InvalidValue(kind, in: field, "has an invalid parameter name", excerpt: parameter.name)
            }
            guard parameter.value.isFieldValue else {
                let reason = "has a control character in the value of the parameter \(parameter.name.shortened())"
                return InvalidValue(kind, in: field, reason, excerpt: parameter.value)
            }
        }
        return nil
    }
}

extension HTTPField {
    /// A typed value of a header field, such as ``MediaType`` or ``CacheControl``.
    ///
    /// Conform your own type to this protocol if a field of your service has a structure. You can then create an
    /// ``HTTPField`` from a value of that type. If ``validated()`` throws an error, building the request fails with
    /// that error:
    ///
    /// ```swift
    /// struct Priority: HTTPField.Value {
    ///     var urgency: Int
    ///     var rawValue: String { "u=\(urgency)" }
    /// }
    /// let field = HTTPField("Priority", Priority(urgency: 1))
    /// ```
    public protocol Value: Sendable {
        /// The value as it appears in the field.
        var rawValue: String { get }

        /// Returns the value if it can be sent, and throws an error otherwise.
        ///
        /// The default implementation throws an error if ``rawValue`` contains a control character.
        ///
        /// - Throws: An ``InvalidValue`` that names the invalid part.
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

    /// Returns the value if ``rawValue`` contains no control character.
    ///
    /// - Throws: ``InvalidValue`` if it contains one.
    public func validated() throws(InvalidValue) -> Self {
        guard rawValue.isFieldValue else { throw InvalidValue(.headerValue, "contains a control character") }
        return self
    }
}

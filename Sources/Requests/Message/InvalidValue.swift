// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An error that describes an invalid value.
///
/// Examples are a header field with a control character, a pin with a typo, or a cookie that its host isn't allowed to
/// set. If a value keeps a request from being sent, this error is the underlying error of a ``RequestError`` with code
/// `invalidRequest`. Rules, such as pins, are validated when they are created, because a rule that can never apply
/// would silently protect nothing.
public struct InvalidValue: DescribedError, Sendable, Hashable {
    /// A kind of value.
    public struct Kind: Sendable, Hashable {
        let name: String

        /// The method of a request.
        public static let method = Kind(name: "method")
        /// A URL.
        public static let url = Kind(name: "URL")
        /// The name of a header field.
        public static let headerName = Kind(name: "header name")
        /// The value of a header field.
        public static let headerValue = Kind(name: "header value")
        /// The media type of the content, or an accepted media type.
        public static let mediaType = Kind(name: "media type")
        /// A value for the query or for the fields of a form.
        public static let query = Kind(name: "query")
        /// The content of a request.
        public static let body = Kind(name: "body")
        /// The boundary between the parts of a multipart body.
        public static let boundary = Kind(name: "boundary")
        /// The name of a part of a multipart body.
        public static let partName = Kind(name: "part name")
        /// The file name of a part of a multipart body.
        public static let fileName = Kind(name: "file name")
        /// A URI template.
        ///
        /// The excerpt is the invalid part, and the reason gives its position in bytes.
        public static let template = Kind(name: "URI template")
        /// A certificate.
        public static let certificate = Kind(name: "certificate")
        /// The pin of a public key.
        public static let pin = Kind(name: "pin")
        /// A host name, or a pattern that matches host names.
        public static let host = Kind(name: "host")
        /// A client identity, that is, the certificates and the private key.
        public static let identity = Kind(name: "client identity")
        /// A cookie.
        public static let cookie = Kind(name: "cookie")
    }

    /// The kind of the value.
    public let kind: Kind
    /// The reason why the value is invalid.
    public let reason: String
    /// The invalid value, or its invalid part, shortened and with control characters escaped.
    ///
    /// The excerpt is empty if it could reveal a secret, such as credentials or the value of a cookie.
    public let excerpt: String
    /// The header field that has the invalid value; `nil` if the value isn't in a field, or the field isn't known.
    public let field: HTTPField.Name?

    /// Creates the error, and shortens the excerpt.
    ///
    /// Credentials, query and other parts that may be secret are removed from the excerpt of a URL.
    public init(_ kind: Kind, _ reason: String, excerpt: String = "") {
        self.init(kind, in: nil, reason, excerpt: excerpt)
    }

    /// Creates the error of a value in a header field, and shortens the excerpt.
    package init(_ kind: Kind = .headerValue, in field: HTTPField.Name?, _ reason: String, excerpt: String = "") {
        self.kind = kind
        self.reason = reason
        self.excerpt = (kind == .url ? excerpt.bareAddress : excerpt).shortened()
        self.field = field
    }

    /// The error as a sentence.
    public var description: String {
        let value = excerpt.isEmpty ? "" : "“\(excerpt)”"
        // The excerpt follows the reason, which ends with what the excerpt shows, such as “has an invalid directive”.
        if let field { return "the \(field) field \(reason)\(value.isEmpty ? "" : ", \(value)")" }
        return "the \(kind.name)\(value.isEmpty ? "" : " \(value)") \(reason)"
    }
}

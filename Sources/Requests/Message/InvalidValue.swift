// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The reason why a value is refused, such as a header field with a control character, a pin with a typing error, or a
/// cookie that its host can't set.
///
/// If a request can't be sent because of a value, it is the underlying error of a ``RequestError`` whose code is
/// `invalidRequest`. Rules, such as pins, are checked when they are made: one that can't apply would silently protect
/// nothing.
public struct InvalidValue: DescribedError, Sendable, Hashable {
    /// A kind of value.
    public struct Kind: Sendable, Hashable {
        let name: String

        /// The method of a request.
        public static let method = Kind(name: "method")
        /// An address.
        public static let url = Kind(name: "URL")
        /// The name of a header field.
        public static let headerName = Kind(name: "header name")
        /// The value of a header field.
        public static let headerValue = Kind(name: "header value")
        /// The media type of the content, or one that is accepted.
        public static let mediaType = Kind(name: "media type")
        /// A value for the query, or for the fields of a form.
        public static let query = Kind(name: "query")
        /// The content of a request.
        public static let body = Kind(name: "body")
        /// The boundary between the parts of a multipart body.
        public static let boundary = Kind(name: "boundary")
        /// The name of a part of a multipart body.
        public static let partName = Kind(name: "part name")
        /// The file name of a part of a multipart body.
        public static let fileName = Kind(name: "file name")
        /// A template of an address; the excerpt is the invalid piece, and the reason names its position in bytes.
        public static let template = Kind(name: "URI template")
        /// A certificate.
        public static let certificate = Kind(name: "certificate")
        /// The pin of a public key.
        public static let pin = Kind(name: "pin")
        /// The name of a host, or the pattern of such names.
        public static let host = Kind(name: "host")
        /// A client's certificate and key.
        public static let identity = Kind(name: "client identity")
        /// A cookie.
        public static let cookie = Kind(name: "cookie")
    }

    /// The kind of the value.
    public let kind: Kind
    /// The reason.
    public let reason: String
    /// The beginning of the value, with control characters escaped; never of one that may be a secret, such as the
    /// value of a header field.
    public let excerpt: String

    /// Makes the error; the excerpt is shortened here, and of an address it is without credentials, query and the like.
    public init(_ kind: Kind, _ reason: String, excerpt: String = "") {
        self.kind = kind
        self.reason = reason
        self.excerpt = (kind == .url ? excerpt.bareAddress : excerpt).shortened()
    }

    /// The error, in a sentence.
    public var description: String { "the \(kind.name)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)" }
}

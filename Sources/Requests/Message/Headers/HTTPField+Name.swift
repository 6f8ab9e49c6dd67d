// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The name of a header field, compared without regard to case.
    ///
    /// An open set, extended in one line:
    ///
    /// ```swift
    /// extension HTTPField.Name { static let requestID: Self = "X-Request-ID" }
    /// ```
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name in the spelling that it was given, which is the one that is sent.
        public let rawValue: String
        fileprivate let isMarkedSecret: Bool

        /// Makes a name of any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSecret: Whether values of the field are secrets, where that isn't known of the name: ``isSecret``. The
        ///     mark is no part of equality.
        public init(_ rawValue: String, isSecret: Bool = false) {
            self.rawValue = rawValue
            isMarkedSecret = isSecret
        }

        /// Makes a name from a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name as it was given.
        public var description: String { rawValue }

        /// Compares names without regard to case.
        public static func == (lhs: Name, rhs: Name) -> Bool {
            lhs.rawValue.equalsIgnoringASCIICase(rhs.rawValue)
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
            hasher.combine(rawValue.utf8.count)
        }
    }
}

extension HTTPField.Name {
    /// Which media types the caller can read.
    public static let accept: Self = "Accept"
    /// Which codings of the content the caller can read.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// Which languages the caller prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// The credentials of the caller.
    public static let authorization: Self = "Authorization"
    /// How the message may be cached.
    public static let cacheControl: Self = "Cache-Control"
    /// Whether the connection stays open.
    public static let connection: Self = "Connection"
    /// How the content is to be presented, with the suggested name of a file.
    public static let contentDisposition: Self = "Content-Disposition"
    /// The codings that were applied to the content.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The languages of the content.
    public static let contentLanguage: Self = "Content-Language"
    /// The length of the content, in bytes.
    public static let contentLength: Self = "Content-Length"
    /// The identity of the content.
    public static let contentLocation: Self = "Content-Location"
    /// Which part of the representation the content is.
    public static let contentRange: Self = "Content-Range"
    /// The media type of the content.
    public static let contentType: Self = "Content-Type"
    /// The cookies that the caller sends back.
    public static let cookie: Self = "Cookie"
    /// When the message was made.
    public static let date: Self = "Date"
    /// The validator of the representation.
    public static let eTag: Self = "ETag"
    /// What the server must support for the request to make sense.
    public static let expect: Self = "Expect"
    /// The host, and port, that is asked.
    public static let host: Self = "Host"
    /// Applies the request only to these representations.
    public static let ifMatch: Self = "If-Match"
    /// Applies the request only if the resource changed since.
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// Applies the request only to other representations than these.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Applies the range only to this representation.
    public static let ifRange: Self = "If-Range"
    /// When the resource changed last.
    public static let lastModified: Self = "Last-Modified"
    /// Where to go instead.
    public static let location: Self = "Location"
    /// The page that led to the request.
    public static let origin: Self = "Origin"
    /// The challenge of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// The credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// Which part of the representation is wanted.
    public static let range: Self = "Range"
    /// The resource that led to the request.
    public static let referer: Self = "Referer"
    /// When to try again.
    public static let retryAfter: Self = "Retry-After"
    /// A cookie that the server sets.
    public static let setCookie: Self = "Set-Cookie"
    /// How the message is framed.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// The program that makes the request.
    public static let userAgent: Self = "User-Agent"
    /// The challenge of a server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"

    /// Whether the value of the field is a secret, which no description shows and no other origin receives.
    public var isSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie,
        "Cookie2", "X-API-Key", "API-Key", "X-Auth-Token", "X-Access-Token", "X-CSRF-Token", "X-Amz-Security-Token",
    ]
}

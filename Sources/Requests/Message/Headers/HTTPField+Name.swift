// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The name of a header field, compared without regard to case.
    ///
    /// Add your own names in an extension:
    ///
    /// ```swift
    /// extension HTTPField.Name { static let requestID: Self = "X-Request-ID" }
    /// ```
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name in its original spelling, as it is sent.
        public let rawValue: String
        /// Whether the caller has declared the field's values as secret.
        let isMarkedSecret: Bool
        /// Combines the length and the first and last byte in lower case, so that one integer comparison distinguishes
        /// most names.
        private let comparisonKey: UInt32

        /// Creates a name in any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSensitive: Whether the field's values are secret, even if the name alone doesn't make them
        ///     ``isSensitive``. The parameter doesn't affect whether names are equal.
        public init(_ rawValue: String, isSensitive: Bool = false) {
            self.rawValue = rawValue
            isMarkedSecret = isSensitive
            let bytes = rawValue.utf8
            let (first, last) = (ASCII.lowercased(bytes.first ?? 0), ASCII.lowercased(bytes.last ?? 0))
            comparisonKey = UInt32(truncatingIfNeeded: bytes.count) << 16 | UInt32(first) << 8 | UInt32(last)
        }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name in its original spelling.
        public var description: String { rawValue }

        /// Compares names without regard to case.
        public static func == (lhs: Name, rhs: Name) -> Bool {
            lhs.comparisonKey == rhs.comparisonKey && lhs.rawValue.equalsIgnoringASCIICase(rhs.rawValue)
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            // Combine eight bytes at a time, because combining each byte takes several times as long.
            var (word, count): (UInt64, Int) = (0, 0)
            for byte in rawValue.utf8 {
                (word, count) = (word << 8 | UInt64(ASCII.lowercased(byte)), count + 1)
                if count & 7 == 0 { hasher.combine(word) }
            }
            hasher.combine(word)
            hasher.combine(count)
        }
    }
}

extension HTTPField.Name: Comparable {
    /// Orders names alphabetically, without regard to case.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.rawValue.utf8.lazy.map(ASCII.lowercased).lexicographicallyPrecedes(
            rhs.rawValue.utf8.lazy.map(ASCII.lowercased)
        )
    }
}

extension HTTPField.Name {
    /// Whether the value of the field is secret, and therefore hidden in descriptions.
    ///
    /// A name is sensitive if it was created with `isSensitive`, or if it contains a word for secrets, such as
    /// `Cookie`, `X-Vault-Token` or `X-Token-V2`. The article *Observing requests* lists the words. Names that end with
    /// `Key` are sensitive too, except those for public keys, caching and idempotency. A secret that was shown or sent
    /// can't be taken back, so names that merely sound secret are treated as sensitive.
    ///
    /// Other names aren't recognized, except for some well-known names such as `X-Honeycomb-Team`. Add yours to
    /// `sensitiveHeaders` of the client or the request.
    ///
    /// - Complexity: O(n).
    public var isSensitive: Bool {
        isKnownSecret || Self.wellKnownCredentials.contains(self)
            || SecretName.matches(field: rawValue) && !Self.falsePositives.contains(self)
    }

    /// Whether the value is certainly secret, and the name doesn't merely sound like it.
    var isKnownSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    /// The same name, marked as secret.
    var markedSecret: Self { Self(rawValue, isSensitive: true) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, .apiKey, "X-CSRF-Token",
        "Cookie2", "API-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
    ]

    /// Fields of well-known APIs that contain credentials, although their names don't suggest it.
    private static let wellKnownCredentials: Set<Self> = [
        "AccessLicenseNumber", "BoxApi", "CST", "Jenkins-Crumb", "Plaid-Verification", "SEC", "X-2FA-Approval",
        "X-Amzn-Oidc-Data", "X-EBAY-API-CERT-NAME", "X-Firebase-AppCheck", "X-HA-Access", "X-Honeycomb-Team",
        "X-Identity-Header", "X-JFrog-Art-Api", "X-Ovh-Consumer", "X-Registry-Config", "X-RequestDigest",
        "X-SecurityCenter", "X-Trello-Webhook", "X-Verify", "project_id", "scnt", "verif-hash",
    ]

    /// Fields whose names sound secret, but whose values aren't.
    private static let falsePositives: Set<Self> = [
        "Access-Control-Allow-Credentials", "Public-Key-Pins", "Public-Key-Pins-Report-Only", "Sec-WebSocket-Key",
        "Signature-Input", "X-Atlassian-Token", "X-Plivo-Signature-V3-Nonce", "X-Trino-Session", "Zotero-Write-Token",
        "kbn-xsrf", "x-amz-copy-source-server-side-encryption-customer-key-MD5",
        "x-amz-server-side-encryption-customer-key-MD5", "x-ms-encryption-key-sha256",
    ]

    /// Whether the field has a single value, and therefore must neither be repeated nor have its repeated values
    /// joined.
    ///
    /// `Content-Length` and `Host` aren't included, because attackers repeat them for request smuggling, and such a
    /// repetition must be detected.
    var isSingleton: Bool { Self.singletons.contains(self) }

    private static let singletons: Set<Self> = [
        .age, .authorization, .contentDisposition, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires, .from, .ifModifiedSince, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .origin,
        .proxyAuthorization,
        .range, .referer, .retryAfter, .server, .setCookie, .userAgent,
    ]
}

// MARK: - Registry

/// Commonly used names, most of which are registered (IANA, HTTP Field Name Registry).
extension HTTPField.Name {
    /// The media types that the caller accepts.
    public static let accept: Self = "Accept"
    /// The character sets that the caller accepts; deprecated, because UTF-8 is ubiquitous.
    public static let acceptCharset: Self = "Accept-Charset"
    /// The content codings that the caller accepts.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// The languages that the caller prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// Whether the server supports range requests.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// The age of the response, in seconds.
    public static let age: Self = "Age"
    /// The methods that the resource supports.
    public static let allow: Self = "Allow"
    /// Information from the server about successful authentication.
    public static let authenticationInfo: Self = "Authentication-Info"
    /// The credentials of the caller.
    public static let authorization: Self = "Authorization"
    /// The caching directives of the message.
    public static let cacheControl: Self = "Cache-Control"
    /// Whether the connection stays open.
    public static let connection: Self = "Connection"
    /// The presentation of the content, with a suggested file name.
    public static let contentDisposition: Self = "Content-Disposition"
    /// The content codings that have been applied.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The languages of the content.
    public static let contentLanguage: Self = "Content-Language"
    /// The length of the content, in bytes.
    public static let contentLength: Self = "Content-Length"
    /// The URL of the representation in the content.
    public static let contentLocation: Self = "Content-Location"
    /// The range of the representation that the content contains.
    public static let contentRange: Self = "Content-Range"
    /// The media type of the content.
    public static let contentType: Self = "Content-Type"
    /// The cookies that the caller sends back.
    public static let cookie: Self = "Cookie"
    /// The time at which the message was created.
    public static let date: Self = "Date"
    /// The entity tag of the representation.
    public static let eTag: Self = "ETag"
    /// The behaviour that the server must support for the request.
    public static let expect: Self = "Expect"
    /// The time at which the response becomes stale.
    public static let expires: Self = "Expires"
    /// The email address of the person who is responsible for the caller.
    public static let from: Self = "From"
    /// The requested host and port.
    public static let host: Self = "Host"
    /// A key that makes the server treat a repeated request as the same request.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// Applies the request only if the representation matches one of these tags.
    public static let ifMatch: Self = "If-Match"
    /// Applies the request only if the resource has changed since this time.
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// Applies the request only if the representation matches none of these tags.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Requests the range only if the representation matches this tag or date.
    public static let ifRange: Self = "If-Range"
    /// Applies the request only if the resource hasn't changed since this time.
    public static let ifUnmodifiedSince: Self = "If-Unmodified-Since"
    /// The timeout and the maximum number of requests of a persistent connection.
    public static let keepAlive: Self = "Keep-Alive"
    /// The ID of the last event that was received, sent to resume an event stream.
    public static let lastEventID: Self = "Last-Event-ID"
    /// The time at which the resource last changed.
    public static let lastModified: Self = "Last-Modified"
    /// Other resources, and their relation to this one (RFC 8288).
    public static let link: Self = "Link"
    /// The URL to go to, for redirects and new resources.
    public static let location: Self = "Location"
    /// The origin of the page that made the request.
    public static let origin: Self = "Origin"
    /// The predecessor of `Cache-Control` in HTTP/1.0.
    public static let pragma: Self = "Pragma"
    /// The urgency of the response (RFC 9218).
    public static let priority: Self = "Priority"
    /// The challenge of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// Information from a proxy about successful authentication.
    public static let proxyAuthenticationInfo: Self = "Proxy-Authentication-Info"
    /// The credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// The requested range of the representation.
    public static let range: Self = "Range"
    /// The URL of the page that led to the request.
    public static let referer: Self = "Referer"
    /// The time to wait before the next attempt.
    public static let retryAfter: Self = "Retry-After"
    /// The server software.
    public static let server: Self = "Server"
    /// A cookie that the server sets.
    public static let setCookie: Self = "Set-Cookie"
    /// The transfer codings that the caller accepts.
    public static let te: Self = "TE"
    /// The trace that the request belongs to (W3C Trace Context).
    public static let traceParent: Self = "traceparent"
    /// The fields that are sent after the content.
    public static let trailer: Self = "Trailer"
    /// The transfer codings that frame the message.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// The protocols to switch to.
    public static let upgrade: Self = "Upgrade"
    /// The program that makes the request.
    public static let userAgent: Self = "User-Agent"
    /// The request header fields that the response depends on.
    public static let vary: Self = "Vary"
    /// The proxies between the caller and the server.
    public static let via: Self = "Via"
    /// A cache's warning about the message; obsolete.
    public static let warning: Self = "Warning"
    /// The challenge of a server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
    /// The key of the caller.
    public static let apiKey: Self = "X-API-Key"
}

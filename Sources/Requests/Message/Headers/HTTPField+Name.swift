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
        /// The name in its original spelling, which is the one that is sent.
        public let rawValue: String
        /// Whether the values were declared to be secrets.
        let isMarkedSecret: Bool
        /// The length of the name, and its first and last byte in lower case: one comparison of numbers distinguishes
        /// most names.
        private let key: UInt32

        /// Makes a name of any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSensitive: Whether values of the field are secrets, if the name itself doesn't say so:
        ///     ``isSensitive``. The mark isn't part of equality.
        public init(_ rawValue: String, isSensitive: Bool = false) {
            self.rawValue = rawValue
            isMarkedSecret = isSensitive
            let bytes = rawValue.utf8
            let (first, last) = (ASCII.lowercased(bytes.first ?? 0), ASCII.lowercased(bytes.last ?? 0))
            key = UInt32(truncatingIfNeeded: bytes.count) << 16 | UInt32(first) << 8 | UInt32(last)
        }

        /// Makes a name from a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name as it was given.
        public var description: String { rawValue }

        /// Compares names without regard to case.
        public static func == (lhs: Name, rhs: Name) -> Bool {
            lhs.key == rhs.key && lhs.rawValue.equalsIgnoringASCIICase(rhs.rawValue)
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            // Eight bytes at a time: combining each byte takes several times as long.
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
    /// Whether the value of the field is a secret, which no description shows.
    ///
    /// It is if the name was made as a secret one, or if a word of a secret is anywhere in the name: `Cookie`,
    /// `X-Vault-Token`, `X-Token-V2`. The article *Observing requests* has the words. A name that ends with `Key` is one
    /// as well, except those of public keys, caches and repetitions. A value that was shown or sent can't be taken back,
    /// so a name that only sounds like a secret is treated as one.
    ///
    /// A name without such a word isn't recognized, apart from a few well-known ones such as `X-Honeycomb-Team`: add it
    /// to `sensitiveHeaders` of the client or the request.
    ///
    /// - Complexity: O(n).
    public var isSensitive: Bool {
        isKnownSecret || Self.unspoken.contains(self)
            || SecretName.matches(field: rawValue) && !Self.harmless.contains(self)
    }

    /// Whether the value is certainly a secret, and doesn't only sound like one.
    var isKnownSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    /// The same name, with the mark of a secret.
    var markedSecret: Self { Self(rawValue, isSensitive: true) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, .apiKey, "X-CSRF-Token",
        "Cookie2", "API-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
    ]

    /// Credentials of well-known APIs whose names don't say so.
    private static let unspoken: Set<Self> = [
        "AccessLicenseNumber", "BoxApi", "CST", "Jenkins-Crumb", "Plaid-Verification", "SEC", "X-2FA-Approval",
        "X-Amzn-Oidc-Data", "X-EBAY-API-CERT-NAME", "X-Firebase-AppCheck", "X-HA-Access", "X-Honeycomb-Team",
        "X-Identity-Header", "X-JFrog-Art-Api", "X-Ovh-Consumer", "X-Registry-Config", "X-RequestDigest",
        "X-SecurityCenter", "X-Trello-Webhook", "X-Verify", "project_id", "scnt", "verif-hash",
    ]

    /// Fields that sound like secrets but aren't.
    private static let harmless: Set<Self> = [
        "Access-Control-Allow-Credentials", "Public-Key-Pins", "Public-Key-Pins-Report-Only", "Sec-WebSocket-Key",
        "Signature-Input", "X-Atlassian-Token", "X-Plivo-Signature-V3-Nonce", "X-Trino-Session", "Zotero-Write-Token",
        "kbn-xsrf", "x-amz-copy-source-server-side-encryption-customer-key-MD5",
        "x-amz-server-side-encryption-customer-key-MD5", "x-ms-encryption-key-sha256",
    ]

    /// Whether the field has only one value, so that repeating it is an error and its values must not be joined.
    ///
    /// `Content-Length` and `Host` aren't included: a repeated one is used for request smuggling, and must be noticed.
    var isSingleton: Bool { Self.singletons.contains(self) }

    private static let singletons: Set<Self> = [
        .age, .authorization, .contentDisposition, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires, .from, .ifModifiedSince, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .origin,
        .proxyAuthorization,
        .range, .referer, .retryAfter, .server, .setCookie, .userAgent,
    ]
}

// MARK: - Registry

/// The commonly used names, most of them registered (IANA, HTTP Field Name Registry).
extension HTTPField.Name {
    /// The media types that the caller can read.
    public static let accept: Self = "Accept"
    /// The character sets that the caller can read; deprecated, since everything is UTF-8.
    public static let acceptCharset: Self = "Accept-Charset"
    /// The codings of the content that the caller can read.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// The languages that the caller prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// Whether parts of the representation can be asked for.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// The age of the response, in seconds.
    public static let age: Self = "Age"
    /// The methods that the resource has.
    public static let allow: Self = "Allow"
    /// Information from the server after it accepted credentials.
    public static let authenticationInfo: Self = "Authentication-Info"
    /// The credentials of the caller.
    public static let authorization: Self = "Authorization"
    /// The caching directives of the message.
    public static let cacheControl: Self = "Cache-Control"
    /// Whether the connection stays open.
    public static let connection: Self = "Connection"
    /// The presentation of the content, with a suggested file name.
    public static let contentDisposition: Self = "Content-Disposition"
    /// The codings that were applied to the content.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The languages of the content.
    public static let contentLanguage: Self = "Content-Language"
    /// The length of the content, in bytes.
    public static let contentLength: Self = "Content-Length"
    /// The identity of the content.
    public static let contentLocation: Self = "Content-Location"
    /// The part of the representation that the content is.
    public static let contentRange: Self = "Content-Range"
    /// The media type of the content.
    public static let contentType: Self = "Content-Type"
    /// The cookies that the caller sends back.
    public static let cookie: Self = "Cookie"
    /// The time at which the message was made.
    public static let date: Self = "Date"
    /// The validator of the representation.
    public static let eTag: Self = "ETag"
    /// The behaviour that the server must support for the request.
    public static let expect: Self = "Expect"
    /// The time at which the response becomes stale.
    public static let expires: Self = "Expires"
    /// The mail address of the person who is responsible for the caller.
    public static let from: Self = "From"
    /// The requested host, and port.
    public static let host: Self = "Host"
    /// A key that makes the server treat a repeated request as the same one.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// Applies the request only to these representations.
    public static let ifMatch: Self = "If-Match"
    /// Applies the request only if the resource changed since.
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// Applies the request only to other representations than these.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Applies the range only to this representation.
    public static let ifRange: Self = "If-Range"
    /// Applies the request only if the resource hasn't changed since.
    public static let ifUnmodifiedSince: Self = "If-Unmodified-Since"
    /// The limits of a connection that stays open.
    public static let keepAlive: Self = "Keep-Alive"
    /// The last event that was received, sent when a stream of events is resumed.
    public static let lastEventID: Self = "Last-Event-ID"
    /// The time at which the resource last changed.
    public static let lastModified: Self = "Last-Modified"
    /// Other resources, and their relation to this one (RFC 8288).
    public static let link: Self = "Link"
    /// The address to go to instead.
    public static let location: Self = "Location"
    /// The page that led to the request.
    public static let origin: Self = "Origin"
    /// The directive that HTTP/1.0 had before `Cache-Control`.
    public static let pragma: Self = "Pragma"
    /// The urgency of the response (RFC 9218).
    public static let priority: Self = "Priority"
    /// The challenge of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// Information from a proxy after it accepted credentials.
    public static let proxyAuthenticationInfo: Self = "Proxy-Authentication-Info"
    /// The credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// The part of the representation that is wanted.
    public static let range: Self = "Range"
    /// The resource that led to the request.
    public static let referer: Self = "Referer"
    /// The time of the next try.
    public static let retryAfter: Self = "Retry-After"
    /// The software of the server.
    public static let server: Self = "Server"
    /// A cookie that the server sets.
    public static let setCookie: Self = "Set-Cookie"
    /// The codings of the transfer that the caller can read.
    public static let te: Self = "TE"
    /// The trace that the request is a part of (W3C Trace Context).
    public static let traceParent: Self = "traceparent"
    /// The fields that come behind the content.
    public static let trailer: Self = "Trailer"
    /// The framing of the message.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// The protocols to switch to.
    public static let upgrade: Self = "Upgrade"
    /// The program that makes the request.
    public static let userAgent: Self = "User-Agent"
    /// The fields of the request that the response depends on.
    public static let vary: Self = "Vary"
    /// The proxies between the caller and the server.
    public static let via: Self = "Via"
    /// A warning about the message from a cache; obsolete.
    public static let warning: Self = "Warning"
    /// The challenge of a server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
    /// The key of the caller.
    public static let apiKey: Self = "X-API-Key"
}

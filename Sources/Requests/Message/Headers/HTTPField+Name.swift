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
        /// A number of the name without regard to case: it differs for nearly all pairs of names, and comparing numbers
        /// takes no time.
        private let key: UInt32

        /// Makes a name of any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSecret: Whether values of the field are secrets, if the name itself doesn't say so: ``isSecret``. The
        ///     mark isn't part of equality.
        public init(_ rawValue: String, isSecret: Bool = false) {
            self.rawValue = rawValue
            isMarkedSecret = isSecret
            // FNV-1a.
            key = rawValue.utf8.reduce(2_166_136_261) { ($0 ^ UInt32(ASCII.lowercased($1))) &* 16_777_619 }
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
            for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
            hasher.combine(rawValue.utf8.count)
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
    /// Whether the value of the field is a secret, which no description shows and no other origin receives.
    ///
    /// It is if the name was made as a secret one, or if the name itself says so: a well-known name such as `Cookie`,
    /// or one that sounds like a secret, such as `X-Vault-Token`. A value that was shown or sent can't be taken back,
    /// so a name that only sounds like a secret is treated as one.
    public var isSecret: Bool { isKnownSecret || (!Self.harmless.contains(self) && SecretName.matches(rawValue)) }

    /// Whether the value is certainly a secret, and doesn't only sound like one.
    var isKnownSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    /// The same name, with the mark of a secret.
    var markedSecret: Self { Self(rawValue, isSecret: true) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, .apiKey, .csrfToken,
        "Cookie2", "API-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
    ]

    /// Fields that sound like secrets but aren't.
    private static let harmless: Set<Self> = [
        "Access-Control-Allow-Credentials", "Idempotency-Key", "Sec-WebSocket-Key", "Surrogate-Key", "X-Cache-Key",
    ]

    /// Whether the field has only one value, so that repeating it is an error and its values must not be joined.
    ///
    /// `Content-Length` and `Host` aren't included: a repeated one is used for request smuggling, and must be noticed.
    var isSingleton: Bool { Self.singletons.contains(self) }

    private static let singletons: Set<Self> = [
        .age, .authorization, .contentDisposition, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires,
        .from, .ifModifiedSince, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .origin, .proxyAuthorization,
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
    /// The client hints that the server would like (RFC 8942).
    public static let acceptCH: Self = "Accept-CH"
    /// The codings of the content that the caller can read.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// The languages that the caller prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// The media types that a change may have (RFC 5789).
    public static let acceptPatch: Self = "Accept-Patch"
    /// The media types that may be posted.
    public static let acceptPost: Self = "Accept-Post"
    /// Whether parts of the representation can be asked for.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// Whether pages of other origins may send credentials.
    public static let accessControlAllowCredentials: Self = "Access-Control-Allow-Credentials"
    /// The fields that pages of other origins may send.
    public static let accessControlAllowHeaders: Self = "Access-Control-Allow-Headers"
    /// The methods that pages of other origins may use.
    public static let accessControlAllowMethods: Self = "Access-Control-Allow-Methods"
    /// The other origin that may read the response.
    public static let accessControlAllowOrigin: Self = "Access-Control-Allow-Origin"
    /// The fields of the response that pages of other origins may read.
    public static let accessControlExposeHeaders: Self = "Access-Control-Expose-Headers"
    /// The time for which the answer to a preflight request may be kept.
    public static let accessControlMaxAge: Self = "Access-Control-Max-Age"
    /// The fields that the request will have.
    public static let accessControlRequestHeaders: Self = "Access-Control-Request-Headers"
    /// The method that the request will have.
    public static let accessControlRequestMethod: Self = "Access-Control-Request-Method"
    /// The age of the response, in seconds.
    public static let age: Self = "Age"
    /// The methods that the resource has.
    public static let allow: Self = "Allow"
    /// Other addresses of the service (RFC 7838).
    public static let altSvc: Self = "Alt-Svc"
    /// The alternative service that was used (RFC 7838).
    public static let altUsed: Self = "Alt-Used"
    /// Information from the server after it accepted credentials.
    public static let authenticationInfo: Self = "Authentication-Info"
    /// The credentials of the caller.
    public static let authorization: Self = "Authorization"
    /// The caching directives of the message.
    public static let cacheControl: Self = "Cache-Control"
    /// The handling of the request by caches on the way (RFC 9211).
    public static let cacheStatus: Self = "Cache-Status"
    /// The kinds of data that the caller is asked to delete.
    public static let clearSiteData: Self = "Clear-Site-Data"
    /// Whether the connection stays open.
    public static let connection: Self = "Connection"
    /// The digest of the content (RFC 9530).
    public static let contentDigest: Self = "Content-Digest"
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
    /// A digest of the content; obsolete, and still asked for by stores.
    public static let contentMD5: Self = "Content-MD5"
    /// The part of the representation that the content is.
    public static let contentRange: Self = "Content-Range"
    /// The sources from which a page may load.
    public static let contentSecurityPolicy: Self = "Content-Security-Policy"
    /// The media type of the content.
    public static let contentType: Self = "Content-Type"
    /// The cookies that the caller sends back.
    public static let cookie: Self = "Cookie"
    /// The resources of other origins that a page may embed.
    public static let crossOriginEmbedderPolicy: Self = "Cross-Origin-Embedder-Policy"
    /// The other pages that may keep a reference to a page.
    public static let crossOriginOpenerPolicy: Self = "Cross-Origin-Opener-Policy"
    /// The other pages that may load the resource.
    public static let crossOriginResourcePolicy: Self = "Cross-Origin-Resource-Policy"
    /// The time at which the message was made.
    public static let date: Self = "Date"
    /// The depth below the resource to which the request applies (RFC 4918).
    public static let depth: Self = "Depth"
    /// The address to which a resource is copied or moved (RFC 4918).
    public static let destination: Self = "Destination"
    /// Whether the caller doesn't want to be tracked.
    public static let dnt: Self = "DNT"
    /// Whether the request was sent before the handshake was complete (RFC 8470).
    public static let earlyData: Self = "Early-Data"
    /// The validator of the representation.
    public static let eTag: Self = "ETag"
    /// The behaviour that the server must support for the request.
    public static let expect: Self = "Expect"
    /// The time at which the response becomes stale.
    public static let expires: Self = "Expires"
    /// The changes that proxies on the way made (RFC 7239).
    public static let forwarded: Self = "Forwarded"
    /// The mail address of the person who is responsible for the caller.
    public static let from: Self = "From"
    /// The requested host, and port.
    public static let host: Self = "Host"
    /// The settings of a connection that is to become HTTP/2.
    public static let http2Settings: Self = "HTTP2-Settings"
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
    /// The time for which a connection is kept open.
    public static let keepAlive: Self = "Keep-Alive"
    /// The last event that was received, sent when a stream of events is resumed.
    public static let lastEventID: Self = "Last-Event-ID"
    /// The time at which the resource last changed.
    public static let lastModified: Self = "Last-Modified"
    /// Other resources, and their relation to this one (RFC 8288).
    public static let link: Self = "Link"
    /// The address to go to instead.
    public static let location: Self = "Location"
    /// The number of proxies that may forward the request.
    public static let maxForwards: Self = "Max-Forwards"
    /// The page that led to the request.
    public static let origin: Self = "Origin"
    /// The features of the browser that a page may use.
    public static let permissionsPolicy: Self = "Permissions-Policy"
    /// The directive that HTTP/1.0 had before `Cache-Control`.
    public static let pragma: Self = "Pragma"
    /// The preferences of the caller (RFC 7240).
    public static let prefer: Self = "Prefer"
    /// The preferences that the server granted (RFC 7240).
    public static let preferenceApplied: Self = "Preference-Applied"
    /// The urgency of the response (RFC 9218).
    public static let priority: Self = "Priority"
    /// The challenge of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// Information from a proxy after it accepted credentials.
    public static let proxyAuthenticationInfo: Self = "Proxy-Authentication-Info"
    /// The credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// The handling of the response by a proxy (RFC 9209).
    public static let proxyStatus: Self = "Proxy-Status"
    /// The part of the representation that is wanted.
    public static let range: Self = "Range"
    /// The number of requests that are left.
    public static let rateLimit: Self = "RateLimit"
    /// The number of requests allowed in a window.
    public static let rateLimitLimit: Self = "RateLimit-Limit"
    /// The limits of the service.
    public static let rateLimitPolicy: Self = "RateLimit-Policy"
    /// The number of requests left in the window.
    public static let rateLimitRemaining: Self = "RateLimit-Remaining"
    /// The time until the window begins again, in seconds.
    public static let rateLimitReset: Self = "RateLimit-Reset"
    /// The resource that led to the request.
    public static let referer: Self = "Referer"
    /// The part of its address that a page sends to other origins.
    public static let referrerPolicy: Self = "Referrer-Policy"
    /// The digest of the representation (RFC 9530).
    public static let reprDigest: Self = "Repr-Digest"
    /// The time of the next try.
    public static let retryAfter: Self = "Retry-After"
    /// The brand of the caller, as a client hint.
    public static let secCHUA: Self = "Sec-CH-UA"
    /// Whether the caller is a mobile one, as a client hint.
    public static let secCHUAMobile: Self = "Sec-CH-UA-Mobile"
    /// The system of the caller, as a client hint.
    public static let secCHUAPlatform: Self = "Sec-CH-UA-Platform"
    /// The destination of the response.
    public static let secFetchDest: Self = "Sec-Fetch-Dest"
    /// The mode of the request.
    public static let secFetchMode: Self = "Sec-Fetch-Mode"
    /// The relation between the origins of the caller and the resource.
    public static let secFetchSite: Self = "Sec-Fetch-Site"
    /// Whether a user's action led to the request.
    public static let secFetchUser: Self = "Sec-Fetch-User"
    /// Whether the caller doesn't want its data to be passed on.
    public static let secGPC: Self = "Sec-GPC"
    /// The answer to a web socket's key (RFC 6455).
    public static let secWebSocketAccept: Self = "Sec-WebSocket-Accept"
    /// The extensions of a web socket (RFC 6455).
    public static let secWebSocketExtensions: Self = "Sec-WebSocket-Extensions"
    /// The key of a web socket (RFC 6455).
    public static let secWebSocketKey: Self = "Sec-WebSocket-Key"
    /// The protocols over a web socket (RFC 6455).
    public static let secWebSocketProtocol: Self = "Sec-WebSocket-Protocol"
    /// The version of a web socket (RFC 6455).
    public static let secWebSocketVersion: Self = "Sec-WebSocket-Version"
    /// The software of the server.
    public static let server: Self = "Server"
    /// The times that the steps of the server took.
    public static let serverTiming: Self = "Server-Timing"
    /// A cookie that the server sets.
    public static let setCookie: Self = "Set-Cookie"
    /// The location of a script's source map.
    public static let sourceMap: Self = "SourceMap"
    /// The time for which only TLS may be used (RFC 6797).
    public static let strictTransportSecurity: Self = "Strict-Transport-Security"
    /// The time at which the resource will be removed (RFC 8594).
    public static let sunset: Self = "Sunset"
    /// The codings of the transfer that the caller can read.
    public static let te: Self = "TE"
    /// The pages that may see the timing of the resource.
    public static let timingAllowOrigin: Self = "Timing-Allow-Origin"
    /// The trace that the request is a part of (W3C Trace Context).
    public static let traceParent: Self = "traceparent"
    /// Vendor-specific data for the trace (W3C Trace Context).
    public static let traceState: Self = "tracestate"
    /// The fields that come behind the content.
    public static let trailer: Self = "Trailer"
    /// The framing of the message.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// The protocols to switch to.
    public static let upgrade: Self = "Upgrade"
    /// Whether the caller prefers to be redirected to TLS.
    public static let upgradeInsecureRequests: Self = "Upgrade-Insecure-Requests"
    /// The program that makes the request.
    public static let userAgent: Self = "User-Agent"
    /// The fields of the request that the response depends on.
    public static let vary: Self = "Vary"
    /// The proxies between the caller and the server.
    public static let via: Self = "Via"
    /// The digest of the content that is wanted (RFC 9530).
    public static let wantContentDigest: Self = "Want-Content-Digest"
    /// A warning about the message from a cache; obsolete.
    public static let warning: Self = "Warning"
    /// The challenge of a server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
    /// The key of the caller.
    public static let apiKey: Self = "X-API-Key"
    /// Whether the media type may be guessed.
    public static let contentTypeOptions: Self = "X-Content-Type-Options"
    /// A token that shows that a page of the service made the request.
    public static let csrfToken: Self = "X-CSRF-Token"
    /// The client on whose behalf a proxy sends the request.
    public static let forwardedFor: Self = "X-Forwarded-For"
    /// The host that the proxy was asked for.
    public static let forwardedHost: Self = "X-Forwarded-Host"
    /// The scheme with which the proxy was asked.
    public static let forwardedProto: Self = "X-Forwarded-Proto"
    /// The pages that may show the resource in a frame.
    public static let frameOptions: Self = "X-Frame-Options"
    /// The actual method, if a proxy lets only some methods through.
    public static let methodOverride: Self = "X-HTTP-Method-Override"
    /// The number of requests allowed in a window, in a widespread unregistered form.
    public static let xRateLimitLimit: Self = "X-RateLimit-Limit"
    /// The number of requests left in the window.
    public static let xRateLimitRemaining: Self = "X-RateLimit-Remaining"
    /// The time at which the window begins again.
    public static let xRateLimitReset: Self = "X-RateLimit-Reset"
    /// The identifier of the request, for logs.
    public static let requestID: Self = "X-Request-ID"
    /// The library that makes the request, if it is a script.
    public static let requestedWith: Self = "X-Requested-With"
}

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
        /// Whether it was said that the values are secrets.
        let isMarkedSecret: Bool

        /// Makes a name of any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSecret: Whether values of the field are secrets, where the name itself doesn't say so: ``isSecret``. The
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
    /// It is where that was said when the name was made, and where the name itself says so: that of a field that
    /// everybody knows for one, as `Cookie`, or one that sounds like it, as `X-Vault-Token`. What was shown or sent
    /// can't be taken back, so a name that only sounds like a secret is taken for one.
    public var isSecret: Bool { isKnownSecret || (!Self.harmless.contains(self) && SecretName.matches(rawValue)) }

    /// Whether the value is a secret for certain, and doesn't only sound like one.
    var isKnownSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    /// The same name, with the mark of a secret.
    var markedSecret: Self { Self(rawValue, isSecret: true) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, .apiKey, .csrfToken,
        "Cookie2", "API-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
    ]

    /// Fields that sound like secrets, and are none.
    private static let harmless: Set<Self> = [
        "Access-Control-Allow-Credentials", "Idempotency-Key", "Sec-WebSocket-Key", "Surrogate-Key", "X-Cache-Key",
    ]

    /// Whether the field has one value, so that several are a mistake, and joining them would make a third of two.
    ///
    /// `Content-Length` and `Host` aren't here: two of them are how requests are smuggled, and must be noticed.
    var isSingleton: Bool { Self.singletons.contains(self) }

    private static let singletons: Set<Self> = [
        .age, .authorization, .contentDisposition, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires,
        .from, .ifModifiedSince, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .origin, .proxyAuthorization,
        .range, .referer, .retryAfter, .server, .setCookie, .userAgent,
    ]
}

// MARK: - Registry

/// The names in everyday use, most of them registered (IANA, HTTP Field Name Registry).
extension HTTPField.Name {
    /// Which media types the caller can read.
    public static let accept: Self = "Accept"
    /// Which character sets the caller can read; deprecated, since everything is UTF-8.
    public static let acceptCharset: Self = "Accept-Charset"
    /// Which client hints the server would like (RFC 8942).
    public static let acceptCH: Self = "Accept-CH"
    /// Which codings of the content the caller can read.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// Which languages the caller prefers.
    public static let acceptLanguage: Self = "Accept-Language"
    /// Which media types a change may have (RFC 5789).
    public static let acceptPatch: Self = "Accept-Patch"
    /// Which media types may be posted.
    public static let acceptPost: Self = "Accept-Post"
    /// Whether parts of the representation can be asked for.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// Whether pages of other origins may send credentials.
    public static let accessControlAllowCredentials: Self = "Access-Control-Allow-Credentials"
    /// Which fields pages of other origins may send.
    public static let accessControlAllowHeaders: Self = "Access-Control-Allow-Headers"
    /// Which methods pages of other origins may use.
    public static let accessControlAllowMethods: Self = "Access-Control-Allow-Methods"
    /// Which other origin may read the response.
    public static let accessControlAllowOrigin: Self = "Access-Control-Allow-Origin"
    /// Which fields of the response pages of other origins may read.
    public static let accessControlExposeHeaders: Self = "Access-Control-Expose-Headers"
    /// How long the answer to a preflight request may be kept.
    public static let accessControlMaxAge: Self = "Access-Control-Max-Age"
    /// Which fields the request will have.
    public static let accessControlRequestHeaders: Self = "Access-Control-Request-Headers"
    /// Which method the request will have.
    public static let accessControlRequestMethod: Self = "Access-Control-Request-Method"
    /// How long ago the response was made, in seconds.
    public static let age: Self = "Age"
    /// Which methods the resource has.
    public static let allow: Self = "Allow"
    /// Where else the service can be reached (RFC 7838).
    public static let altSvc: Self = "Alt-Svc"
    /// Which of these was taken (RFC 7838).
    public static let altUsed: Self = "Alt-Used"
    /// What the server says about credentials that it took.
    public static let authenticationInfo: Self = "Authentication-Info"
    /// The credentials of the caller.
    public static let authorization: Self = "Authorization"
    /// How the message may be cached.
    public static let cacheControl: Self = "Cache-Control"
    /// What caches on the way did (RFC 9211).
    public static let cacheStatus: Self = "Cache-Status"
    /// What the caller is to forget.
    public static let clearSiteData: Self = "Clear-Site-Data"
    /// Whether the connection stays open.
    public static let connection: Self = "Connection"
    /// The digest of the content (RFC 9530).
    public static let contentDigest: Self = "Content-Digest"
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
    /// A digest of the content; obsolete, and still asked for by stores.
    public static let contentMD5: Self = "Content-MD5"
    /// Which part of the representation the content is.
    public static let contentRange: Self = "Content-Range"
    /// What a page may load.
    public static let contentSecurityPolicy: Self = "Content-Security-Policy"
    /// The media type of the content.
    public static let contentType: Self = "Content-Type"
    /// The cookies that the caller sends back.
    public static let cookie: Self = "Cookie"
    /// What a page may embed from elsewhere.
    public static let crossOriginEmbedderPolicy: Self = "Cross-Origin-Embedder-Policy"
    /// Which other pages may hold on to a page.
    public static let crossOriginOpenerPolicy: Self = "Cross-Origin-Opener-Policy"
    /// Which other pages may load the resource.
    public static let crossOriginResourcePolicy: Self = "Cross-Origin-Resource-Policy"
    /// When the message was made.
    public static let date: Self = "Date"
    /// How far below the resource the request reaches (RFC 4918).
    public static let depth: Self = "Depth"
    /// Where a resource is copied or moved to (RFC 4918).
    public static let destination: Self = "Destination"
    /// Whether the caller doesn't want to be tracked.
    public static let dnt: Self = "DNT"
    /// Whether the request came before the handshake was done (RFC 8470).
    public static let earlyData: Self = "Early-Data"
    /// The validator of the representation.
    public static let eTag: Self = "ETag"
    /// What the server must support for the request to make sense.
    public static let expect: Self = "Expect"
    /// When the response becomes stale.
    public static let expires: Self = "Expires"
    /// What proxies on the way changed (RFC 7239).
    public static let forwarded: Self = "Forwarded"
    /// The address of who is responsible for the caller.
    public static let from: Self = "From"
    /// The host, and port, that is asked.
    public static let host: Self = "Host"
    /// The settings of a connection that is to become HTTP/2.
    public static let http2Settings: Self = "HTTP2-Settings"
    /// What makes the server take a repeated request for the same one.
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
    /// How long a connection is kept.
    public static let keepAlive: Self = "Keep-Alive"
    /// The last event that was received, when a stream of them is taken up again.
    public static let lastEventID: Self = "Last-Event-ID"
    /// When the resource changed last.
    public static let lastModified: Self = "Last-Modified"
    /// Other resources, and what they have to do with this one (RFC 8288).
    public static let link: Self = "Link"
    /// Where to go instead.
    public static let location: Self = "Location"
    /// How many proxies may pass on the request.
    public static let maxForwards: Self = "Max-Forwards"
    /// The page that led to the request.
    public static let origin: Self = "Origin"
    /// Which features of the browser a page may use.
    public static let permissionsPolicy: Self = "Permissions-Policy"
    /// What HTTP/1.0 had before `Cache-Control`.
    public static let pragma: Self = "Pragma"
    /// What the caller would like (RFC 7240).
    public static let prefer: Self = "Prefer"
    /// Which of these the server granted (RFC 7240).
    public static let preferenceApplied: Self = "Preference-Applied"
    /// How urgent the response is (RFC 9218).
    public static let priority: Self = "Priority"
    /// The challenge of a proxy.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// What a proxy says about credentials that it took.
    public static let proxyAuthenticationInfo: Self = "Proxy-Authentication-Info"
    /// The credentials for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// What a proxy did with the response (RFC 9209).
    public static let proxyStatus: Self = "Proxy-Status"
    /// Which part of the representation is wanted.
    public static let range: Self = "Range"
    /// How many more requests there may be.
    public static let rateLimit: Self = "RateLimit"
    /// How many requests there may be in a window.
    public static let rateLimitLimit: Self = "RateLimit-Limit"
    /// Which limits there are.
    public static let rateLimitPolicy: Self = "RateLimit-Policy"
    /// How many of these are left.
    public static let rateLimitRemaining: Self = "RateLimit-Remaining"
    /// When there may be as many again, in seconds.
    public static let rateLimitReset: Self = "RateLimit-Reset"
    /// The resource that led to the request.
    public static let referer: Self = "Referer"
    /// How much of its address a page tells others.
    public static let referrerPolicy: Self = "Referrer-Policy"
    /// The digest of the representation (RFC 9530).
    public static let reprDigest: Self = "Repr-Digest"
    /// When to try again.
    public static let retryAfter: Self = "Retry-After"
    /// The brand of the caller, as a client hint.
    public static let secCHUA: Self = "Sec-CH-UA"
    /// Whether the caller is a mobile one, as a client hint.
    public static let secCHUAMobile: Self = "Sec-CH-UA-Mobile"
    /// The system of the caller, as a client hint.
    public static let secCHUAPlatform: Self = "Sec-CH-UA-Platform"
    /// What the response is wanted for.
    public static let secFetchDest: Self = "Sec-Fetch-Dest"
    /// In which mode the request was made.
    public static let secFetchMode: Self = "Sec-Fetch-Mode"
    /// How the caller's origin and the resource's go together.
    public static let secFetchSite: Self = "Sec-Fetch-Site"
    /// Whether a person asked for it.
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
    /// The program that answers.
    public static let server: Self = "Server"
    /// How long the server took for what.
    public static let serverTiming: Self = "Server-Timing"
    /// A cookie that the server sets.
    public static let setCookie: Self = "Set-Cookie"
    /// Where the source of a script is.
    public static let sourceMap: Self = "SourceMap"
    /// For how long to come only by TLS (RFC 6797).
    public static let strictTransportSecurity: Self = "Strict-Transport-Security"
    /// When the resource will be gone (RFC 8594).
    public static let sunset: Self = "Sunset"
    /// Which codings of the transfer the caller can read.
    public static let te: Self = "TE"
    /// Which pages may see how long the resource took.
    public static let timingAllowOrigin: Self = "Timing-Allow-Origin"
    /// The trace that the request is a part of (W3C Trace Context).
    public static let traceParent: Self = "traceparent"
    /// What tracing systems add to it (W3C Trace Context).
    public static let traceState: Self = "tracestate"
    /// Which fields come behind the content.
    public static let trailer: Self = "Trailer"
    /// How the message is framed.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// Which protocol to go over to.
    public static let upgrade: Self = "Upgrade"
    /// Whether the caller would rather be led to TLS.
    public static let upgradeInsecureRequests: Self = "Upgrade-Insecure-Requests"
    /// The program that makes the request.
    public static let userAgent: Self = "User-Agent"
    /// Which fields of the request the response depends on.
    public static let vary: Self = "Vary"
    /// Which proxies are between.
    public static let via: Self = "Via"
    /// Which digest of the content is wanted (RFC 9530).
    public static let wantContentDigest: Self = "Want-Content-Digest"
    /// What a cache has to warn of; obsolete.
    public static let warning: Self = "Warning"
    /// The challenge of a server.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
    /// The key of the caller.
    public static let apiKey: Self = "X-API-Key"
    /// Whether the media type may be guessed.
    public static let contentTypeOptions: Self = "X-Content-Type-Options"
    /// What shows that a page of the service made the request.
    public static let csrfToken: Self = "X-CSRF-Token"
    /// On whose behalf a proxy asks.
    public static let forwardedFor: Self = "X-Forwarded-For"
    /// Which host the proxy was asked for.
    public static let forwardedHost: Self = "X-Forwarded-Host"
    /// How the proxy was asked.
    public static let forwardedProto: Self = "X-Forwarded-Proto"
    /// Which pages may show the resource in a frame.
    public static let frameOptions: Self = "X-Frame-Options"
    /// The method that is meant, where a proxy lets only some through.
    public static let methodOverride: Self = "X-HTTP-Method-Override"
    /// How many requests there may be in a window, as many services say it.
    public static let xRateLimitLimit: Self = "X-RateLimit-Limit"
    /// How many of these are left.
    public static let xRateLimitRemaining: Self = "X-RateLimit-Remaining"
    /// When there may be as many again.
    public static let xRateLimitReset: Self = "X-RateLimit-Reset"
    /// The name of the request, for logs.
    public static let requestID: Self = "X-Request-ID"
    /// What makes the request, where it is a script.
    public static let requestedWith: Self = "X-Requested-With"
}

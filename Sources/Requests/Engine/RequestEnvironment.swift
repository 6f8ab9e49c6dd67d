// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What the operations of a queue or a client inherit, unless a request's ``RequestOptions`` say otherwise.
///
/// A value: changing a copy changes nothing that is under way.
public struct RequestEnvironment: Sendable {
    /// What relative addresses are appended to, its own path and query kept; nil, the default, leaves them without one.
    public var baseURL: URL? { didSet { lacksBaseURL = false } }
    /// Query parameters for every request, before its own.
    public var query: Query = []
    /// Header fields for every request; a request's own field of the same name takes their place.
    ///
    /// By default ``HTTPHeaders/default``: who asks, and in which languages. To send neither, set `[]`.
    ///
    /// A request with an absolute address at another origin than the base URL's gets neither the query parameters nor
    /// those fields whose values are secrets. Nor do the secrets follow where an interceptor leads to another origin.
    public var headers: HTTPHeaders = .default
    /// Header fields whose values are secrets, besides those that everybody knows for such, as `Authorization` and
    /// `Cookie`: no description shows them, and no other origin receives them.
    public var secretHeaders: Set<HTTPField.Name> = []
    /// How long a transfer may stay silent; nil, the default, leaves it to the transport: to the configuration of a
    /// session, else 60 seconds.
    public var timeout: Duration?
    /// How long an operation may take in all, counted from its making: waiting in the queue, retries and back-off
    /// included.
    ///
    /// Nil, the default, is as long as it needs.
    public var deadline: Duration?
    /// What becomes of redirects; by default ten are followed.
    public var redirect: RedirectPolicy = .follow()
    /// Whom a connection trusts; by default whom the system does.
    public var trust: TrustPolicy = .system
    /// How many bytes of content are read into memory at most, after decoding; 64 MiB by default.
    ///
    /// A larger response is an error of code `bodyTooLarge`.
    public var maximumBodySize = 64 * 1024 * 1024
    /// How many bytes the head of a response may have at most; 256 KiB by default.
    ///
    /// A larger one is an error of code `headTooLarge`. A transport may allow less itself; over a `URLSession`, whose
    /// heads come parsed, the system's own limit holds alone.
    public var maximumHeadSize = 256 * 1024
    /// How many bytes of the content an error keeps; 64 KiB by default.
    public var maximumErrorBodySize = 64 * 1024
    /// Makes the decoder of JSON for requests that bring none, for each response one; by default a plain one.
    public var makeDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
    /// Makes the encoder of JSON for bodies that bring none, for each one; nil, the default, is one that sorts keys.
    public var makeEncoder: (@Sendable () -> JSONEncoder)?
    /// How values are written as query parameters, where a request doesn't say; see `query(_:)`.
    public var queryEncoder = QueryEncoder()
    /// Where values are made of responses; nil, the default, is the thread that the response arrives on.
    ///
    /// A queue with a bound of its own keeps many large answers from being decoded at once.
    public var decodingQueue: DispatchQueue?
    /// How far transports and caches may answer from what they keep, where the request doesn't say.
    public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// What has to hold before an operation does anything, besides the request's own conditions.
    public var conditions: [any RequestCondition] = []
    /// What changes requests and responses, and decides about retries, in this order.
    public var interceptors: [any Interceptor] = []
    /// What judges responses, in this order; the request's own statuses come last.
    public var validators: [any ResponseValidator] = []
    /// Where cookies are kept between requests; nil keeps none, and is the default but for an `HTTPClient`, which has a
    /// jar of its own.
    public var cookies: (any CookieStorage)?
    /// What keeps responses; nil, the default, keeps none.
    public var cache: ResponseCache?
    /// How many requests are sent in a while; nil, the default, sets no limit.
    public var rateLimiter: RateLimiter?
    /// How many transfers to one origin are under way at once; nil, the default, sets no limit.
    public var hostLimiter: HostLimiter?
    /// How many bytes go through in a second, those of all transfers together; nil, the default, sets no limit.
    public var bandwidthLimiter: BandwidthLimiter?
    /// What watches operations; each is told in its turn, in this order.
    public var monitors: [any EventMonitor] = []
    /// When failed requests are tried again; by default never.
    public var retry = RetryPolicy.never
    /// The clock of every wait: deadlines, back-off, and limiters that have no clock of their own.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Where chance comes from: the jitter of back-off.
    public var random = RandomSource.system
    /// The present, for dates that servers name, such as in `Retry-After`; the ``cache`` has one of its own.
    public var now: @Sendable () -> Date = { Date() }

    /// Whether a base URL was to be given, and was nil: a text that is no address makes such a `URL?`.
    ///
    /// Such an environment isn't one for all origins, and its secrets are for none.
    var lacksBaseURL = false
    /// Which state of which client's environment this is; nil for one that belongs to no client.
    var revision: EnvironmentRevision?
    /// What has outlived the operations of that client.
    var detachedWork: DetachedWork?

    /// Makes an environment with the defaults.
    public init() {}

    /// Sets what was given as the base URL.
    mutating func setBaseURL(_ url: URL?) {
        baseURL = url
        lacksBaseURL = url == nil
    }
}

extension RequestEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without credentials and query, and the header fields without the values of secrets.
    public var description: String {
        let fields = markedHeaders.map(\.description).joined(separator: ", ")
        return "\(baseURL?.redactedDescription ?? "no base URL"), headers [\(fields)], query [\(query)]"
    }

    /// A mirror without secrets: what is plain, and of interceptors and the like their types.
    public var customMirror: Mirror {
        func types(_ values: [Any]) -> [String] { values.map { "\(type(of: $0))" } }
        let children: [(String?, Any)] = [
            ("baseURL", baseURL?.redactedDescription as Any), ("headers", markedHeaders), ("query", query),
            ("timeout", timeout as Any), ("deadline", deadline as Any), ("maximumBodySize", maximumBodySize),
            ("maximumHeadSize", maximumHeadSize), ("cachePolicy", cachePolicy.rawValue),
            ("conditions", types(conditions)), ("interceptors", types(interceptors)),
            ("validators", types(validators)), ("monitors", types(monitors)), ("hasCookies", cookies != nil),
            ("hasCache", cache != nil),
        ]
        return Mirror(self, children: children)
    }

    private var markedHeaders: HTTPHeaders {
        var headers = headers
        headers.markSecrets(secretHeaders)
        return headers
    }
}

/// Tells one state of an environment from the next: two environments of one revision are the same, as far as nobody has
/// changed a copy.
///
/// Most of what an environment has can't be compared.
struct EnvironmentRevision: Sendable, Hashable {
    private static let last = Locked<UInt64>(0)

    private let number: UInt64

    /// A new one, which nothing has had before.
    init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }
}

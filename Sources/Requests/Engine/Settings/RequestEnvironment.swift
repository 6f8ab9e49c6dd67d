// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings that the operations of a queue or a client inherit, unless a request's ``RequestOptions`` override
/// them.
///
/// It is a value: changing a copy doesn't affect running operations.
public struct RequestEnvironment: Sendable {
    // An array of one, since it is copied on write: every request takes the environment along, and has no need for a
    // copy of thirty settings.
    private var storage = [Fields()]

    private struct Fields: Sendable {
        var baseURL: URL?
        var query: Query = []
        var headers: HTTPHeaders = .default
        var sensitiveHeaders: Set<HTTPField.Name> = []
        var timeout: Duration?
        var deadline: Duration?
        var redirect: RedirectPolicy = .follow()
        var trust: TrustPolicy = .system
        var maximumBodySize = 64 * 1024 * 1024
        var maximumHeadSize = 256 * 1024
        var maximumErrorBodySize = 64 * 1024
        var makeDecoder: (@Sendable () -> JSONDecoder)?
        var makeEncoder: (@Sendable () -> JSONEncoder)?
        var queryEncoder = QueryEncoder()
        var decodingQueue: DispatchQueue?
        var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
        var conditions: [any RequestCondition] = []
        var interceptors: [any Interceptor] = []
        var validators: [any ResponseValidator] = []
        var cookies: (any CookieStorage)?
        var cache: ResponseCache?
        var rateLimiter: RateLimiter?
        var hostLimiter: HostLimiter?
        var bandwidthLimiter: BandwidthLimiter?
        var monitors: [any EventMonitor] = []
        var retry = RetryPolicy.never
        var clock: any Clock<Duration> = ContinuousClock()
        var random = RandomSource.system
        var now: @Sendable () -> Date = { Date() }
        var lacksBaseURL = false
        var hasOwnLimit = false
        var revision: EnvironmentRevision?
        var detachedWork: DetachedWork?
        var changes: [@Sendable (inout HTTPRequest) throws -> Void] = []
    }

    private var fields: Fields {
        _read { yield storage[0] }
        _modify { yield &storage[0] }
    }

    /// Makes an environment with the defaults.
    public init() {}

    /// An environment with the defaults; copies of it share their storage.
    static let unchanged = RequestEnvironment()

    /// Sets a base URL, and records if it is `nil`.
    mutating func setBaseURL(_ url: URL?) {
        baseURL = url
        lacksBaseURL = url == nil
    }
}

extension RequestEnvironment {
    /// The URL that relative addresses are appended to, with its path and query; `nil`, the default, allows absolute
    /// ones only.
    public var baseURL: URL? {
        get { fields.baseURL }
        set { (fields.baseURL, fields.lacksBaseURL) = (newValue, false) }
    }

    /// Query parameters for every request, before its own.
    public var query: Query {
        _read { yield fields.query }
        _modify { yield &fields.query }
    }

    /// Header fields for every request; a request's own field of the same name replaces them.
    ///
    /// By default ``HTTPHeaders/default``: the program and its languages. To send neither, set `[]`.
    ///
    /// A request with an absolute address at another origin than the base URL's gets neither the query parameters nor
    /// fields whose values are secrets. The secrets are also removed if an interceptor leads to another origin.
    public var headers: HTTPHeaders {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    /// Header fields whose values are secrets, besides well-known ones such as `Authorization` and `Cookie`.
    ///
    /// No description shows them, and no other origin receives them.
    public var sensitiveHeaders: Set<HTTPField.Name> {
        _read { yield fields.sensitiveHeaders }
        _modify { yield &fields.sensitiveHeaders }
    }

    /// The maximum time without data; `nil`, the default, lets the transport decide: the configuration of a session, or
    /// else 60 seconds.
    public var timeout: Duration? {
        _read { yield fields.timeout }
        _modify { yield &fields.timeout }
    }

    /// The maximum time of an operation, from its creation: including the time in the queue, retries and back-off.
    ///
    /// `nil`, the default, sets no limit.
    public var deadline: Duration? {
        _read { yield fields.deadline }
        _modify { yield &fields.deadline }
    }

    /// The handling of redirects; by default ten are followed.
    public var redirect: RedirectPolicy {
        _read { yield fields.redirect }
        _modify { yield &fields.redirect }
    }

    /// The trust policy for connections; by default the system's.
    public var trust: TrustPolicy {
        _read { yield fields.trust }
        _modify { yield &fields.trust }
    }

    /// The maximum byte count of content in memory, after decoding; 64 MiB by default.
    ///
    /// A larger response is an error of code `bodyTooLarge`.
    public var maximumBodySize: Int {
        _read { yield fields.maximumBodySize }
        _modify { yield &fields.maximumBodySize }
    }

    /// The maximum byte count of a response's head; 256 KiB by default.
    ///
    /// A larger one is an error of code `headTooLarge`. A transport may have a lower limit; over a `URLSession`, which
    /// delivers parsed heads, only the system's own limit applies.
    public var maximumHeadSize: Int {
        _read { yield fields.maximumHeadSize }
        _modify { yield &fields.maximumHeadSize }
    }

    /// The maximum byte count of the content that an error keeps; 64 KiB by default.
    public var maximumErrorBodySize: Int {
        _read { yield fields.maximumErrorBodySize }
        _modify { yield &fields.maximumErrorBodySize }
    }

    /// Makes a JSON decoder for each response to requests without one of their own; by default a plain one.
    public var makeDecoder: @Sendable () -> JSONDecoder {
        get { fields.makeDecoder ?? { JSONDecoder() } }
        set { fields.makeDecoder = newValue }
    }

    /// The closure of ``makeDecoder``; `nil` if it wasn't set.
    var ownDecoder: (@Sendable () -> JSONDecoder)? { fields.makeDecoder }

    /// Makes a JSON encoder for each body without one of its own; `nil`, the default, makes one that sorts keys.
    public var makeEncoder: (@Sendable () -> JSONEncoder)? {
        _read { yield fields.makeEncoder }
        _modify { yield &fields.makeEncoder }
    }

    /// The encoder of query parameters, for requests without one of their own; see `query(_:)`.
    public var queryEncoder: QueryEncoder {
        _read { yield fields.queryEncoder }
        _modify { yield &fields.queryEncoder }
    }

    /// The queue on which values are made of responses; `nil`, the default, is the thread that delivers the response.
    ///
    /// A queue with a limit of its own keeps many large responses from being decoded at once.
    public var decodingQueue: DispatchQueue? {
        _read { yield fields.decodingQueue }
        _modify { yield &fields.decodingQueue }
    }

    /// The cache policy for transports and caches, for requests without one of their own.
    public var cachePolicy: URLRequest.CachePolicy {
        _read { yield fields.cachePolicy }
        _modify { yield &fields.cachePolicy }
    }

    /// The conditions for starting an operation's work, checked before the request's own.
    public var conditions: [any RequestCondition] {
        _read { yield fields.conditions }
        _modify { yield &fields.conditions }
    }

    /// The interceptors, which change requests and responses, and decide about retries, in this order.
    public var interceptors: [any Interceptor] {
        _read { yield fields.interceptors }
        _modify { yield &fields.interceptors }
    }

    /// The validators, which judge responses, in this order; the request's own statuses come last.
    public var validators: [any ResponseValidator] {
        _read { yield fields.validators }
        _modify { yield &fields.validators }
    }

    /// The storage of cookies; `nil` keeps none.
    ///
    /// It is `nil` by default, except for an `HTTPClient`, which has a jar of its own.
    public var cookies: (any CookieStorage)? {
        _read { yield fields.cookies }
        _modify { yield &fields.cookies }
    }

    /// The cache of responses; `nil`, the default, caches none.
    public var cache: ResponseCache? {
        _read { yield fields.cache }
        _modify { yield &fields.cache }
    }

    /// The limit of requests in an interval; `nil`, the default, sets no limit.
    public var rateLimiter: RateLimiter? {
        _read { yield fields.rateLimiter }
        _modify { yield &fields.rateLimiter }
    }

    /// The limit of concurrent transfers to one origin; `nil`, the default, sets no limit.
    public var hostLimiter: HostLimiter? {
        _read { yield fields.hostLimiter }
        _modify { yield &fields.hostLimiter }
    }

    /// The limit of bytes per second, for all transfers together; `nil`, the default, sets no limit.
    public var bandwidthLimiter: BandwidthLimiter? {
        _read { yield fields.bandwidthLimiter }
        _modify { yield &fields.bandwidthLimiter }
    }

    /// The monitors, which observe operations and are notified in this order.
    public var monitors: [any EventMonitor] {
        _read { yield fields.monitors }
        _modify { yield &fields.monitors }
    }

    /// The policy for retrying failed requests; by default never.
    public var retry: RetryPolicy {
        _read { yield fields.retry }
        _modify { yield &fields.retry }
    }

    /// The clock of all waits: deadlines, back-off, and limiters that have no clock of their own.
    public var clock: any Clock<Duration> {
        _read { yield fields.clock }
        _modify { yield &fields.clock }
    }

    /// The source of random numbers, for the jitter of back-off.
    public var random: RandomSource {
        _read { yield fields.random }
        _modify { yield &fields.random }
    }

    /// The present time, for dates that servers send, such as in `Retry-After`; the ``cache`` has one of its own.
    public var now: @Sendable () -> Date {
        _read { yield fields.now }
        _modify { yield &fields.now }
    }

    /// Whether a base URL was intended, but is `nil`: an invalid text makes such a `URL?`.
    ///
    /// Such an environment isn't valid for all origins, and its secrets are sent to none.
    var lacksBaseURL: Bool {
        _read { yield fields.lacksBaseURL }
        _modify { yield &fields.lacksBaseURL }
    }

    /// Whether the queue of the requests limits their number.
    var hasOwnLimit: Bool {
        _read { yield fields.hasOwnLimit }
        _modify { yield &fields.hasOwnLimit }
    }

    /// The revision of a client's environment; `nil` for one that belongs to no client.
    var revision: EnvironmentRevision? {
        _read { yield fields.revision }
        _modify { yield &fields.revision }
    }

    /// The changes of a request that was made, before it inherits anything: those of a later page.
    var changes: [@Sendable (inout HTTPRequest) throws -> Void] {
        _read { yield fields.changes }
        _modify { yield &fields.changes }
    }

    /// The work that has outlived the operations of that client.
    var detachedWork: DetachedWork? {
        _read { yield fields.detachedWork }
        _modify { yield &fields.detachedWork }
    }
}

extension RequestEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without credentials and query, and the header fields without the values of secrets.
    public var description: String {
        let fields = markedHeaders.map(\.description).joined(separator: ", ")
        return "\(baseURL?.redactedDescription ?? "no base URL"), headers [\(fields)], query [\(query)]"
    }

    /// A mirror without secrets: plain values, and the types of interceptors and the like.
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
        headers.markSecrets(sensitiveHeaders)
        return headers
    }
}

/// Identifies a state of an environment: two environments of one revision are equal, unless a copy was changed.
///
/// Most values of an environment can't be compared.
struct EnvironmentRevision: Sendable, Hashable {
    private static let last = Locked<UInt64>(0)

    private let number: UInt64

    /// Makes a new, unique revision.
    init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }
}

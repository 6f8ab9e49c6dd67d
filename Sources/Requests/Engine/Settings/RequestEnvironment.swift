// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings that the operations of a queue or a client inherit, unless a request's ``RequestOptions`` override
/// them.
///
/// Each property of its ``Settings`` is a property of the environment. The environment is a value, so changing a copy
/// doesn't affect running operations. <doc:ClientSettings> lists the settings, with their defaults.
@dynamicMemberLookup
public struct RequestEnvironment: Sendable {
    // An array with one element, because an array is copied on write. A copy of the environment therefore doesn't copy
    // all thirty settings.
    private var storage = [Storage()]

    private struct Storage: Sendable {
        var settings = Settings()
        var sharedConfiguration: RunConfiguration?
    }

    /// Creates an environment with the defaults.
    public init() {}

    /// A setting of the environment, such as `environment.timeout`.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<Settings, Value>) -> Value {
        _read { yield storage[0].settings[keyPath: setting] }
        _modify {
            if storage[0].sharedConfiguration != nil { storage[0].sharedConfiguration = nil }
            yield &storage[0].settings[keyPath: setting]
        }
    }

    /// The current date, according to the environment's ``Settings/now``.
    ///
    /// For other modules of the package, where the compiler can't resolve the key path of a setting.
    package var currentDate: Date { self.now() }

    /// The configuration of all requests without individual settings; `nil` if it is missing or outdated.
    var sharedConfiguration: RunConfiguration? { storage[0].sharedConfiguration }

    /// Creates the configuration of all requests without individual settings.
    ///
    /// Call this method when the environment is complete, because any change removes the configuration.
    mutating func shareConfiguration() {
        // The configuration contains a copy of the environment without the configuration, to avoid a retain cycle.
        storage[0].sharedConfiguration = nil
        storage[0].sharedConfiguration = RunConfiguration.shared(in: self)
    }

    /// Returns the marks of header fields, which come from the environment and from a request's options.
    func marks(_ options: RequestOptions) -> HeaderMarks {
        HeaderMarks(
            secrets: self.sensitiveHeaders.joined(with: options.sensitiveHeaders),
            crossOrigin: self.crossOriginHeaders.joined(with: options.crossOriginHeaders)
        )
    }

    /// An environment with the defaults; copies of it share their storage.
    static let unchanged: RequestEnvironment = {
        var environment = RequestEnvironment()
        environment.shareConfiguration()
        return environment
    }()

    /// Sets a base URL, and records whether it is `nil`.
    mutating func setBaseURL(_ url: URL?) {
        self.baseURL = url
        self.lacksBaseURL = url == nil
    }

    /// The settings of an environment, available as properties of the environment itself.
    public struct Settings: Sendable {
        /// The URL that relative addresses are appended to, including its path and query.
        ///
        /// If it is `nil`, the default, only absolute addresses are allowed.
        public var baseURL: URL? {
            get { base?.url }
            set { (base, lacksBaseURL) = (newValue.map(BaseURL.init), false) }
        }

        /// Query parameters for every request, added before the request's own parameters.
        public var query: Query = []

        /// Header fields for every request; a request's own field replaces the field of the same name.
        ///
        /// The default is ``HTTPHeaders/default``, which describes the program and its languages. To send neither, set
        /// `[]`.
        ///
        /// A request whose absolute address has another origin than the base URL inherits no query parameters. Of these
        /// fields, it inherits only those that are harmless there, and those in ``crossOriginHeaders``. The same
        /// applies if an interceptor changes the origin.
        public var headers: HTTPHeaders = .default {
            didSet { headers.update { $0.provenance.source = .environment } }
        }

        /// Header fields whose values are secrets, in addition to well-known fields such as `Authorization` and
        /// `Cookie`.
        ///
        /// Their values are hidden in all descriptions.
        public var sensitiveHeaders: Set<HTTPField.Name> = []

        /// Header fields that follow a request to another origin, in addition to harmless fields.
        ///
        /// A redirect, a link to the next page, an interceptor or an absolute address may lead to an origin for which
        /// the fields weren't set. By default, only fields that reveal nothing about the user follow;
        /// <doc:SecuringConnections> lists them. Add a field here if another server needs it, such as a vendor's field
        /// for a CDN. Adding `Authorization`, `Proxy-Authorization`, `Cookie` or `Host` has no effect.
        public var crossOriginHeaders: Set<HTTPField.Name> = []

        /// The maximum time without data.
        ///
        /// If it is `nil`, the default, the transport decides: it uses the timeout of its session's configuration, or
        /// otherwise 60 seconds.
        public var timeout: Duration?

        /// The maximum time of an operation from its creation, including the time in the queue, retries and backoff.
        ///
        /// If it is `nil`, the default, there is no limit.
        public var deadline: Duration?

        /// The handling of redirects; by default, up to ten are followed.
        public var redirect: RedirectPolicy = .follow()

        /// The trust policy for connections; by default, the system's.
        public var trust: TrustPolicy = .system

        /// The maximum byte count of content in memory, after decoding; 64 MiB by default.
        ///
        /// A larger response fails with the code `bodyTooLarge`.
        public var maximumBodySize = 64 * 1024 * 1024

        /// The maximum byte count of a response's head; 256 KiB by default.
        ///
        /// A larger head fails with the code `headTooLarge`. A transport may have a lower limit. A `URLSession`
        /// delivers parsed heads, so only the system's own limit applies there.
        public var maximumHeadSize = 256 * 1024

        /// The maximum byte count of the content that an error keeps; 64 KiB by default.
        public var maximumErrorBodySize = 64 * 1024

        /// Creates a JSON decoder for each response, unless the request has its own decoder; by default, a plain
        /// decoder.
        public var makeDecoder: @Sendable () -> JSONDecoder {
            get { customMakeDecoder ?? { JSONDecoder() } }
            set { customMakeDecoder = newValue }
        }

        /// The closure of ``makeDecoder``; `nil` if it wasn't set.
        var customMakeDecoder: (@Sendable () -> JSONDecoder)?

        /// Creates a JSON encoder for each body without its own encoder.
        ///
        /// If it is `nil`, the default, the encoder sorts keys.
        public var makeEncoder: (@Sendable () -> JSONEncoder)?

        /// The encoder of query parameters for requests without their own encoder; see `query(_:)`.
        public var queryEncoder = QueryEncoder()

        /// The queue on which responses are decoded.
        ///
        /// If it is `nil`, the default, responses are decoded on the thread that delivers them. A queue with a
        /// concurrency limit prevents many large responses from being decoded simultaneously.
        public var decodingQueue: DispatchQueue?

        /// The cache policy for transports and caches, for requests without their own policy.
        public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy

        /// The conditions for starting an operation's work, checked before the request's own conditions.
        public var conditions: [any RequestCondition] = []

        /// The interceptors, which change requests and responses, and decide about retries, in this order.
        public var interceptors: [any Interceptor] = []

        /// The validators of responses, in this order; the request's accepted statuses are checked last.
        public var validators: [any ResponseValidator] = []

        /// The cookie storage; without a storage, cookies aren't kept.
        ///
        /// It is `nil` by default, but an `HTTPClient` has its own cookie jar.
        public var cookies: (any CookieStorage)?

        /// The cache of responses; `nil`, the default, disables caching.
        public var cache: ResponseCache?

        /// The limit on the number of requests per interval; `nil`, the default, sets no limit.
        public var rateLimiter: RateLimiter?

        /// The limit on concurrent transfers to one origin; `nil`, the default, sets no limit.
        public var hostLimiter: HostLimiter?

        /// The monitors, which observe operations and are notified in this order.
        public var monitors: [any EventMonitor] = []

        /// The policy for retrying failed requests; by default, requests aren't retried.
        public var retry = RetryPolicy.never

        /// The clock for all waits: deadlines, backoff, and limiters without their own clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The source of random numbers for the jitter of backoff.
        public var random = RandomSource.system

        /// Returns the current date, for dates that servers send, such as in `Retry-After`; the ``cache`` has its own
        /// clock.
        public var now: @Sendable () -> Date = { Date() }

        /// The ``baseURL``, parsed once for all requests.
        var base: BaseURL?

        /// Whether the base URL was set to `nil`, for example because `URL(string:)` couldn't parse a string.
        ///
        /// Such an environment applies to no origin, so its secrets are never sent, unlike those of an environment
        /// whose base URL was never set.
        var lacksBaseURL = false

        /// Whether the queue itself limits how many requests run concurrently.
        var hasOwnLimit = false

        /// The revision of a client's environment; `nil` if the environment belongs to no client.
        ///
        /// Environments are compared by their revisions, because most of their values can't be compared. Two
        /// environments with the same revision are equal, unless a copy was changed.
        var revision: UUID?

        /// The changes to a request before it inherits anything, such as the URL of a later page.
        package var changes: [@Sendable (inout HTTPRequest) throws -> Void] = []

        /// An interceptor that follows all others, and sees each request just before it is sent; `nil` for none.
        package var lastInterceptor: (any Interceptor)?

        /// The client, as the owner of subrequests that outlive an operation.
        var subrequestOwner: SubrequestOwner?
    }
}

extension RequestEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without its credentials or query, and the header fields with secret values redacted.
    public var description: String {
        let fields = markedHeaders.map(\.description).joined(separator: ", ")
        return "\(self.baseURL?.redactedDescription ?? "no base URL"), headers [\(fields)], query [\(self.query)]"
    }

    /// A mirror without secrets: plain values, and only the types of objects such as interceptors.
    public var customMirror: Mirror {
        func types(_ values: [Any]) -> [String] { values.map { "\(type(of: $0))" } }
        let settings = storage[0].settings
        let children: [(String?, Any)] = [
            ("baseURL", settings.baseURL?.redactedDescription as Any), ("headers", markedHeaders),
            ("query", settings.query), ("timeout", settings.timeout as Any), ("deadline", settings.deadline as Any),
            ("maximumBodySize", settings.maximumBodySize), ("maximumHeadSize", settings.maximumHeadSize),
            ("cachePolicy", settings.cachePolicy.rawValue), ("conditions", types(settings.conditions)),
            ("interceptors", types(settings.interceptors)), ("validators", types(settings.validators)),
            ("monitors", types(settings.monitors)), ("hasCookies", settings.cookies != nil),
            ("hasCache", settings.cache != nil),
        ]
        return Mirror(self, children: children)
    }

    private var markedHeaders: HTTPHeaders {
        var headers = self.headers
        headers.markSecrets(self.sensitiveHeaders)
        return headers
    }
}

extension Set {
    /// Returns the union, without a copy if one of the sets is empty.
    fileprivate func joined(with other: Self) -> Self {
        isEmpty ? other : other.isEmpty ? self : union(other)
    }
}

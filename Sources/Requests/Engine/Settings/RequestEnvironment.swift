// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings that the operations of a queue or a client inherit, unless a request's ``RequestOptions`` override
/// them: one property for each of its ``Settings``.
///
/// It is a value: changing a copy doesn't affect running operations. <doc:ClientSettings> lists the settings, with
/// their defaults.
@dynamicMemberLookup
public struct RequestEnvironment: Sendable {
    // An array of one, since it is copied on write: every request takes the environment along, and has no need for a
    // copy of thirty settings.
    private var storage = [Storage()]

    private struct Storage: Sendable {
        var settings = Settings()
        var sharedConfiguration: RunConfiguration?
    }

    /// Makes an environment with the defaults.
    public init() {}

    /// A setting of the environment, such as `environment.timeout`.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<Settings, Value>) -> Value {
        _read { yield storage[0].settings[keyPath: setting] }
        _modify {
            if storage[0].sharedConfiguration != nil { storage[0].sharedConfiguration = nil }
            yield &storage[0].settings[keyPath: setting]
        }
    }

    /// The current date, by the clock of the environment.
    ///
    /// For other modules of the package, where the compiler can't resolve the key path of a setting.
    package var currentDate: Date { self.now() }

    /// The configuration of all requests without settings of their own; `nil` if it wasn't created, or is outdated.
    var sharedConfiguration: RunConfiguration? { storage[0].sharedConfiguration }

    /// Creates the configuration of all requests without settings of their own.
    ///
    /// Call it when the environment is complete: a change removes the configuration.
    mutating func shareConfiguration() {
        // The configuration gets the environment without itself, because they would retain each other.
        storage[0].sharedConfiguration = nil
        storage[0].sharedConfiguration = RunConfiguration.shared(in: self)
    }

    /// The marks of header fields, which those of a request add to.
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

    /// Sets a base URL, and records if it is `nil`.
    mutating func setBaseURL(_ url: URL?) {
        self.baseURL = url
        self.lacksBaseURL = url == nil
    }

    /// The settings of an environment, which are properties of the environment itself.
    public struct Settings: Sendable {
        /// The URL that relative addresses are appended to, with its path and query; `nil`, the default, allows
        /// absolute ones only.
        public var baseURL: URL? {
            get { base?.url }
            set { (base, lacksBaseURL) = (newValue.map(BaseURL.init), false) }
        }

        /// Query parameters for every request, before its own.
        public var query: Query = []

        /// Header fields for every request; a request's own field of the same name replaces them.
        ///
        /// By default ``HTTPHeaders/default``: the program and its languages. To send neither, set `[]`.
        ///
        /// A request with an absolute address at another origin than the base URL's gets neither the query parameters
        /// nor these fields, except for those that are harmless there and those in ``crossOriginHeaders``. The same
        /// holds if an interceptor leads to another origin.
        public var headers: HTTPHeaders = .default {
            didSet { headers.update { $0.provenance.source = .environment } }
        }

        /// Header fields whose values are secrets, besides well-known ones such as `Authorization` and `Cookie`.
        ///
        /// No description shows them.
        public var sensitiveHeaders: Set<HTTPField.Name> = []

        /// Header fields that follow a request to another origin, besides those that are harmless there.
        ///
        /// A redirect, a link to the next page, an interceptor or an absolute address may lead to an origin for which
        /// the fields weren't set. By default only fields that say nothing about the user follow:
        /// <doc:SecuringConnections> lists them. Name a field here if another server needs it, such as a vendor's field
        /// for a CDN. `Authorization`, `Proxy-Authorization`, `Cookie` and `Host` can't be released.
        public var crossOriginHeaders: Set<HTTPField.Name> = []

        /// The maximum time without data; `nil`, the default, lets the transport decide: the configuration of a
        /// session, or else 60 seconds.
        public var timeout: Duration?

        /// The maximum time of an operation, from its creation: including the time in the queue, retries and back-off.
        ///
        /// `nil`, the default, sets no limit.
        public var deadline: Duration?

        /// The handling of redirects; by default ten are followed.
        public var redirect: RedirectPolicy = .follow()

        /// The trust policy for connections; by default the system's.
        public var trust: TrustPolicy = .system

        /// The maximum byte count of content in memory, after decoding; 64 MiB by default.
        ///
        /// A larger response is an error of code `bodyTooLarge`.
        public var maximumBodySize = 64 * 1024 * 1024

        /// The maximum byte count of a response's head; 256 KiB by default.
        ///
        /// A larger one is an error of code `headTooLarge`. A transport may have a lower limit; over a `URLSession`,
        /// which delivers parsed heads, only the system's own limit applies.
        public var maximumHeadSize = 256 * 1024

        /// The maximum byte count of the content that an error keeps; 64 KiB by default.
        public var maximumErrorBodySize = 64 * 1024

        /// Makes a JSON decoder for each response to requests without one of their own; by default a plain one.
        public var makeDecoder: @Sendable () -> JSONDecoder {
            get { customMakeDecoder ?? { JSONDecoder() } }
            set { customMakeDecoder = newValue }
        }

        /// The closure of ``makeDecoder``; `nil` if it wasn't set.
        var customMakeDecoder: (@Sendable () -> JSONDecoder)?

        /// Makes a JSON encoder for each body without one of its own; `nil`, the default, makes one that sorts keys.
        public var makeEncoder: (@Sendable () -> JSONEncoder)?

        /// The encoder of query parameters, for requests without one of their own; see `query(_:)`.
        public var queryEncoder = QueryEncoder()

        /// The queue on which responses are decoded; `nil`, the default, is the thread that delivers the response.
        ///
        /// A queue with a limit of its own keeps many large responses from being decoded at once.
        public var decodingQueue: DispatchQueue?

        /// The cache policy for transports and caches, for requests without one of their own.
        public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy

        /// The conditions for starting an operation's work, checked before the request's own.
        public var conditions: [any RequestCondition] = []

        /// The interceptors, which change requests and responses, and decide about retries, in this order.
        public var interceptors: [any Interceptor] = []

        /// The validators, which judge responses, in this order; the request's own statuses come last.
        public var validators: [any ResponseValidator] = []

        /// The storage of cookies; `nil` keeps none.
        ///
        /// It is `nil` by default, except for an `HTTPClient`, which has a jar of its own.
        public var cookies: (any CookieStorage)?

        /// The cache of responses; `nil`, the default, caches none.
        public var cache: ResponseCache?

        /// The limit of requests in an interval; `nil`, the default, sets no limit.
        public var rateLimiter: RateLimiter?

        /// The limit of concurrent transfers to one origin; `nil`, the default, sets no limit.
        public var hostLimiter: HostLimiter?

        /// The monitors, which observe operations and are notified in this order.
        public var monitors: [any EventMonitor] = []

        /// The policy for retrying failed requests; by default never.
        public var retry = RetryPolicy.never

        /// The clock of all waits: deadlines, back-off, and limiters that have no clock of their own.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The source of random numbers, for the jitter of back-off.
        public var random = RandomSource.system

        /// The current time, for dates that servers send, such as in `Retry-After`; the ``cache`` has one of its own.
        public var now: @Sendable () -> Date = { Date() }

        /// The ``baseURL``, split once for all requests.
        var base: BaseURL?

        /// Whether a base URL was passed, but is `nil`, as `URL(string:)` returns for an invalid text.
        ///
        /// Unlike an environment without a base URL, it applies to no origin, and its secrets are sent to none.
        var lacksBaseURL = false

        /// Whether the queue of the requests limits their number.
        var hasOwnLimit = false

        /// The revision of a client's environment; `nil` for one that belongs to no client.
        ///
        /// It is compared instead of the values, most of which can't be: two environments of one revision are equal,
        /// unless a copy was changed.
        var revision: UUID?

        /// The changes to a request before it inherits anything, such as those for a later page.
        package var changes: [@Sendable (inout HTTPRequest) throws -> Void] = []

        /// An interceptor after all others, which sees a request when it goes out; `nil` for none.
        package var lastInterceptor: (any Interceptor)?

        /// The owner of subrequests that outlive an operation: the client.
        var subrequestOwner: SubrequestOwner?
    }
}

extension RequestEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without credentials and query, and the header fields without the values of secrets.
    public var description: String {
        let fields = markedHeaders.map(\.description).joined(separator: ", ")
        return "\(self.baseURL?.redactedDescription ?? "no base URL"), headers [\(fields)], query [\(self.query)]"
    }

    /// A mirror without secrets: plain values, and the types of interceptors and the like.
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
    /// The union, without a copy if one of the sets is empty.
    fileprivate func joined(with other: Self) -> Self {
        isEmpty ? other : other.isEmpty ? self : union(other)
    }
}

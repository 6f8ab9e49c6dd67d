// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The decisions of a private cache for one request (RFC 9111): pure logic, without a store and without a clock.
struct CacheRules: Sendable {
    private let request: HTTPRequest
    private let hasUser: Bool
    private let policy: ResponseCache.Policy
    private let control: CacheControl

    /// Reads the request's directives for caches.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - hasUser: Whether something identifies its user.
    ///   - policy: Its use of the cache.
    init(_ request: HTTPRequest, hasUser: Bool, _ policy: ResponseCache.Policy) {
        self.request = request
        self.policy = policy
        self.hasUser = hasUser
        control = CacheControl(lines: request.headers[values: .cacheControl])
    }

    // MARK: Using

    /// Whether stored responses may answer the request, and its response may be stored: a request for a whole resource.
    ///
    /// A caller that sends conditions, or asks for a range, has a copy of its own and should get the server's answer.
    /// Stored content is decoded.
    var concernsCache: Bool { concernsCache(exceptFor: nil) }

    private func concernsCache(exceptFor name: HTTPField.Name?) -> Bool {
        request.method == .get && request.body.isEmpty && request.decodesContent && !control.contains("no-store")
            && !request.headers.contains { $0.name != name && Self.ofCallersCopy.contains($0.name) }
    }

    /// Whether a stored response could be used.
    var wantsStored: Bool {
        (concernsCache || range != nil) && request.cachePolicy != .reloadIgnoringLocalCacheData
            && request.cachePolicy != .reloadIgnoringLocalAndRemoteCacheData
    }

    /// Decides about a request with this stored response, or with none.
    ///
    /// A retry is sent if that is allowed, because the stored response may be the one that was rejected.
    func answer(with stored: CachedResponse?, at now: Date, isRetry: Bool = false) -> CacheDecision {
        guard let stored, wantsStored else { return load() }
        let judged = policy.applied(to: stored)
        let freshness = freshness(of: judged, at: now)
        let isUsable = request.cachePolicy.takesAnyAge || takes(judged, freshness)
        let range = range
        if isUsable || range != nil {
            guard isUsable, !(isRetry && maySend), let answer = range.map({ stored.part($0) }) ?? stored else {
                return load()
            }
            return .fresh(answer.response(from: request.url, age: freshness.age))
        }
        let next = load(unlessSameAs: stored)
        if case .revalidate(let outgoing, _) = next, !isRetry, mayValidateLater(judged, freshness) {
            let response = stored.response(from: request.url, age: freshness.age)
            return .stale(response, revalidate: outgoing, stored: stored)
        }
        return next
    }

    /// Whether a stale response may be used while it is validated (RFC 5861, 3).
    ///
    /// If the request itself limits the age of a response, the server is asked at once.
    private func mayValidateLater(_ stored: CachedResponse, _ freshness: Freshness) -> Bool {
        guard request.cachePolicy == .useProtocolCachePolicy, stored.mayBeStale, !asksForValidation,
            !control.contains("max-age"), !control.contains("min-fresh"),
            let limit = stored.control.staleWhileRevalidate
        else { return false }
        return freshness.age - freshness.lifetime <= limit / .seconds(1)
    }

    /// The range that the request asks for, if only that keeps a whole response from answering it.
    private var range: SingleByteRange? {
        guard concernsCache(exceptFor: .range) else { return nil }
        return request.headers[.range].flatMap(SingleByteRange.init)
    }

    /// Whether a status is a server failure that a stale response may hide (RFC 5861, 4).
    static func isFailure(_ status: HTTPStatus) -> Bool { failures.contains(status) }

    /// Whether an error means that there was no answer; others, such as an untrusted certificate, are never hidden.
    static func isFailure(_ code: RequestError.Code) -> Bool { code.kind == .transient }

    private static let failures: Set<HTTPStatus> = [
        .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]

    /// Returns a stored response to use if the server fails, or can't be reached (RFC 5861, 4).
    func answer(insteadOfError stored: CachedResponse, at now: Date) -> HTTPResponse<Data>? {
        let judged = policy.applied(to: stored)
        let freshness = freshness(of: judged, at: now)
        guard judged.mayBeStale, let limit = judged.control.staleIfError ?? control.staleIfError,
            freshness.age - freshness.lifetime <= limit / .seconds(1)
        else { return nil }
        return stored.response(from: request.url, age: freshness.age)
    }

    /// Whether the request may be sent to the server.
    private var maySend: Bool {
        request.cachePolicy != .returnCacheDataDontLoad && !control.contains("only-if-cached")
    }

    private func load(unlessSameAs stored: CachedResponse? = nil) -> CacheDecision {
        guard maySend else {
            return .unavailable
        }
        var next = request
        if let directive = request.cachePolicy.directive, !control.contains(directive.name) {
            next.headers[.cacheControl] = CacheControl(control.directives + [directive]).rawValue
        }
        // A transport with a cache of its own would answer for the server, and hide the expected 304.
        next.cachePolicy = .reloadIgnoringLocalCacheData
        guard let stored else { return .miss(next) }
        next.headers.merge(stored.validators)
        return .revalidate(next, stored: stored)
    }

    /// RFC 9111, 4.2 and 5.2.1, for a stored response whose age counts.
    private func takes(_ stored: CachedResponse, _ freshness: Freshness) -> Bool {
        // RFC 8246: a reload doesn't validate a response that the server has called immutable.
        let isReload = request.cachePolicy == .reloadRevalidatingCacheData && !stored.control.contains("immutable")
        guard !isReload, !asksForValidation,
            !stored.control.contains("no-cache")
        else { return false }
        let lifetime = min(freshness.lifetime, control["max-age"].map(\.secondsOrZero) ?? .infinity)
        let left = lifetime - freshness.age
        if let spare = control["min-fresh"]?.secondsOrZero { return left > 0 && left >= spare }
        if left > 0 { return true }
        guard let excess = control["max-stale"], stored.mayBeStale else { return false }
        return excess.argument == nil || -left <= excess.secondsOrZero
    }

    private var asksForValidation: Bool {
        if control.contains("no-cache") { return true }
        // RFC 9111, 5.4: the directive of HTTP/1.0 counts if there is no other.
        return !request.headers.contains(.cacheControl)
            && CacheControl(lines: request.headers[values: .pragma]).contains("no-cache")
    }

    /// A lifetime is guessed only if a resource looks like a file: a query's answer is made on request, and a page for
    /// a single user changes with that user's actions.
    private func freshness(of stored: CachedResponse, at now: Date) -> Freshness {
        let looksLikeFile = request.url.query(percentEncoded: true) == nil && !hasUser
        return Freshness(of: stored, guessing: looksLikeFile && Self.always.contains(stored.status), at: now)
    }

    private static let ofCallersCopy: Set<HTTPField.Name> = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
    ]

    // MARK: Storing

    /// Whether a response may be stored (RFC 9111, 3).
    ///
    /// `private` doesn't forbid it here, and neither does `Authorization`: the cache is its user's own.
    func allowsStoring(_ response: CachedResponse) -> Bool {
        let response = policy.applied(to: response)
        guard concernsCache, response.varyingNames != nil else { return false }
        let control = response.control
        let isCacheable = Self.always.contains(response.status)
        // If the server sets a lifetime, any final response may be stored, even a failure: an overloaded server isn't
        // asked again meanwhile.
        let hasLifetime = control.contains("max-age") || response.headers.contains(.expires)
        guard
            isCacheable || hasLifetime && response.status.code >= 200 && !Self.aboutOneRequest.contains(response.status)
        else { return false }
        let isUnderstood = isCacheable || Self.understood.contains(response.status)
        // RFC 9111, 5.2.2.3: then no-store applies only to caches that don't know the status.
        return control.contains("must-understand") ? isUnderstood : !control.contains("no-store")
    }

    /// Whether a response that isn't stored shows that the stored one is outdated.
    ///
    /// Failures don't: the resource may be unchanged when the server has recovered. Neither do parts.
    func replacesStored(_ status: HTTPStatus) -> Bool {
        concernsCache && status.category == .success && status != .partialContent
    }

    /// The statuses that are cacheable by default (RFC 9110, 15.1), except 206, which isn't complete, and 501, so that
    /// the repair of a server takes effect at once.
    private static let always: Set<HTTPStatus> = [
        .ok, .nonAuthoritativeInformation, .noContent, .multipleChoices, .movedPermanently, .permanentRedirect,
        .notFound, .methodNotAllowed, .gone, .uriTooLong,
    ]

    /// The statuses that are never stored: parts and validations, answers about credentials and connections that the
    /// next request may change, and those of RFC 6585.
    private static let aboutOneRequest: Set<HTTPStatus> = [
        .partialContent, .notModified, .unauthorized, .proxyAuthenticationRequired, .requestTimeout,
        .preconditionFailed,
        .rangeNotSatisfiable, .expectationFailed, .misdirectedRequest, .tooEarly, .upgradeRequired,
        .preconditionRequired, .tooManyRequests, .requestHeaderFieldsTooLarge, .networkAuthenticationRequired,
    ]

    /// The statuses whose requirements are known, besides those that are cacheable by default.
    private static let understood: Set<HTTPStatus> = [.found, .seeOther, .temporaryRedirect]

    // MARK: Invalidating

    /// The addresses whose responses are outdated by a successful request that changes something (RFC 9111, 4.4).
    ///
    /// Addresses that the response names count only on the same origin: a server can't decide about others.
    static func invalidated(by request: HTTPRequest, _ head: HTTPResponseHead) -> [URL] {
        guard !request.method.isSafe, head.status.category == .success || head.status.category == .redirection else {
            return []
        }
        let named = [HTTPField.Name.location, .contentLocation].compactMap { name in
            head[name].flatMap { URL(lenient: $0, relativeTo: request.url)?.absoluteURL }
        }
        return [request.url] + named.filter { Origin($0) == Origin(request.url) }
    }
}

extension CachedResponse {
    /// Whether a stale response may be used without asking the server.
    fileprivate var mayBeStale: Bool {
        let control = control
        return !control.contains("must-revalidate") && !control.contains("no-cache")
    }
}

extension CacheControl.Directive {
    /// The argument in seconds; an invalid number counts as 0.
    fileprivate var secondsOrZero: TimeInterval { duration.map { $0 / .seconds(1) } ?? 0 }
}

extension URLRequest.CachePolicy {
    /// Whether a stored response of any age may be used.
    fileprivate var takesAnyAge: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }

    /// The directive for the caches on the way to the server.
    fileprivate var directive: CacheControl.Directive? {
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData: .noCache
        case .reloadRevalidatingCacheData: .maxAge(.zero)
        default: nil
        }
    }
}

/// The age of a stored response, and its lifetime (RFC 9111, 4.2), in seconds.
struct Freshness: Sendable, Hashable {
    /// The age.
    let age: TimeInterval
    /// The maximum age before the server has to be asked; 0 if there is no lifetime.
    let lifetime: TimeInterval

    /// Computes both.
    ///
    /// If the clock was set back, the age of a response is unknown, and it counts as stale. Otherwise a clock that was
    /// wrong by a year for a minute would keep responses for a year.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - guesses: Whether a lifetime may be guessed if the server sets none (RFC 9111, 4.2.2).
    ///   - now: The current time.
    init(of response: CachedResponse, guessing guesses: Bool, at now: Date) {
        // A response without a date gets that of its arrival (RFC 9110, 6.6.1).
        let date = response.headers.date(.date, now) ?? response.receivedAt
        let apparent = max(0, response.receivedAt.timeIntervalSince(date))
        let delay = max(0, response.receivedAt.timeIntervalSince(response.requestedAt))
        let resident = now.timeIntervalSince(response.receivedAt)
        age = max(apparent, response.headers.age + delay) + max(0, resident)
        lifetime = resident < 0 ? 0 : Self.lifetime(of: response, from: date, guessing: guesses, now)
    }

    // RFC 9111, 4.2.1, for a private cache, which ignores `s-maxage`. An invalid lifetime makes the response stale.
    private static func lifetime(
        of response: CachedResponse,
        from date: Date,
        guessing guesses: Bool,
        _ now: Date
    ) -> TimeInterval {
        if let maxAge = response.control["max-age"] {
            return maxAge.duration.map { $0 / .seconds(1) } ?? 0
        }
        if response.headers.contains(.expires) {
            // Some servers write UTC in other fields; for a lifetime, RFC 9110, 5.6.7 is applied, which forbids it.
            guard response.headers[.expires]?.hasSuffix("UTC") == false else { return 0 }
            return response.headers.date(.expires, now).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        guard guesses, let modified = response.headers.date(.lastModified, now) else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) / 10, longestGuess)
    }

    private static let longestGuess: TimeInterval = 24 * 60 * 60
}

extension HTTPHeaders {
    fileprivate func date(_ name: HTTPField.Name, _ now: Date) -> Date? {
        self[name].flatMap { HTTPDate(parsing: $0, now: now) }?.date
    }

    /// The value of `Age`; an invalid one is ignored, and of several the first counts (RFC 9111, 5.1).
    fileprivate var age: TimeInterval {
        guard let text = FieldScanner.elements(of: self[.age] ?? "").first, text.utf8.allSatisfy(ASCII.isDigit) else {
            return 0
        }
        return TimeInterval(Swift.min(Int64(text) ?? .max, 2_147_483_648))
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The decisions of a private cache about one request (RFC 9111), without access to the store or the clock.
struct CacheRules: Sendable {
    private let request: HTTPRequest
    private let hasUser: Bool
    private let policy: ResponseCache.Policy
    private let control: CacheControl

    /// Creates the rules for a request.
    ///
    /// - Parameters:
    ///   - request: The request, whose `Cache-Control` is parsed.
    ///   - hasUser: Whether the request identifies a user.
    ///   - policy: The caching policy of the request.
    init(_ request: HTTPRequest, hasUser: Bool, _ policy: ResponseCache.Policy) {
        self.request = request
        self.policy = policy
        self.hasUser = hasUser
        control = CacheControl(lines: request.headers[values: .cacheControl])
    }

    // MARK: Using

    /// Whether the response may come from the cache and may be stored, which requires a request for a complete
    /// resource.
    ///
    /// A caller that sends conditions or a range has its own copy, and should get the server's response. Stored content
    /// is decoded, so a request for encoded content also bypasses the cache.
    var isCacheableRequest: Bool { isCacheableRequest(exceptFor: nil) }

    private func isCacheableRequest(exceptFor name: HTTPField.Name?) -> Bool {
        request.method == .get && request.body.isEmpty && request.decodesContent && !control.contains("no-store")
            && !request.headers.contains { $0.name != name && Self.conditionsAndRange.contains($0.name) }
    }

    /// Whether a stored response may be used.
    var allowsStoredResponse: Bool {
        (isCacheableRequest || range != nil) && request.cachePolicy != .reloadIgnoringLocalCacheData
            && request.cachePolicy != .reloadIgnoringLocalAndRemoteCacheData
    }

    /// Decides how to handle the request, given the stored response, if any.
    ///
    /// A retry is sent if possible, because the stored response may be the one that was rejected.
    func decision(with stored: CachedResponse?, at now: Date, isRetry: Bool = false) -> CacheDecision {
        guard let stored, allowsStoredResponse else { return networkDecision() }
        let effective = policy.applied(to: stored)
        let freshness = freshness(of: effective, at: now)
        let isUsable = request.cachePolicy.acceptsAnyAge || accepts(effective, freshness)
        let range = range
        if isUsable || range != nil {
            guard isUsable, !(isRetry && maySend), let selected = range.map({ stored.part($0) }) ?? stored else {
                return networkDecision()
            }
            return .fresh(selected.response(from: request.url, age: freshness.age))
        }
        let next = networkDecision(validating: stored)
        if case .revalidate(let outgoing, _) = next, !isRetry, mayValidateInBackground(effective, freshness) {
            let response = stored.response(from: request.url, age: freshness.age)
            return .stale(response, revalidate: outgoing, stored: stored)
        }
        return next
    }

    /// Returns whether a stale response may be used while it is validated in the background (RFC 5861, 3).
    ///
    /// If the request limits the age of the response, the response must be validated first.
    private func mayValidateInBackground(_ stored: CachedResponse, _ freshness: Freshness) -> Bool {
        guard request.cachePolicy == .useProtocolCachePolicy, stored.allowsStaleUse, !requiresValidation,
            !control.contains("max-age"), !control.contains("min-fresh"),
            let limit = stored.control.staleWhileRevalidate
        else { return false }
        return freshness.age - freshness.lifetime <= limit / .seconds(1)
    }

    /// The requested range, if nothing else keeps the request from using a stored response.
    private var range: SingleByteRange? {
        guard isCacheableRequest(exceptFor: .range) else { return nil }
        return request.headers[.range].flatMap(SingleByteRange.init)
    }

    /// Returns whether a status is a server failure, in which case a stale response may be used instead (RFC 5861, 4).
    static func isFailure(_ status: HTTPStatus) -> Bool { failureStatuses.contains(status) }

    /// Returns whether an error means that there was no response.
    ///
    /// Other errors, such as `untrusted`, are never hidden.
    static func isFailure(_ code: RequestError.Code) -> Bool { code.kind == .transient }

    private static let failureStatuses: Set<HTTPStatus> = [
        .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]

    /// Returns a stored response to use if the server fails or can't be reached (RFC 5861, 4).
    func staleResponse(insteadOfError stored: CachedResponse, at now: Date) -> HTTPResponse<Data>? {
        let effective = policy.applied(to: stored)
        let freshness = freshness(of: effective, at: now)
        guard effective.allowsStaleUse, let limit = effective.control.staleIfError ?? control.staleIfError,
            freshness.age - freshness.lifetime <= limit / .seconds(1)
        else { return nil }
        return stored.response(from: request.url, age: freshness.age)
    }

    /// Whether the request may be sent to the server.
    private var maySend: Bool {
        request.cachePolicy != .returnCacheDataDontLoad && !control.contains("only-if-cached")
    }

    private func networkDecision(validating stored: CachedResponse? = nil) -> CacheDecision {
        guard maySend else {
            return .unavailable
        }
        var next = request
        if let directive = request.cachePolicy.directive, !control.contains(directive.name) {
            next.headers[.cacheControl] = CacheControl(control.directives + [directive]).rawValue
        }
        // Bypass any cache of the transport, because it would respond instead of the server, and hide the expected 304.
        next.cachePolicy = .reloadIgnoringLocalCacheData
        guard let stored else { return .miss(next) }
        next.headers.merge(stored.validators)
        return .revalidate(next, stored: stored)
    }

    /// Returns whether a stored response is fresh enough for the request (RFC 9111, 4.2 and 5.2.1).
    private func accepts(_ stored: CachedResponse, _ freshness: Freshness) -> Bool {
        // A reload doesn't validate a response with the directive `immutable` (RFC 8246).
        let isReload = request.cachePolicy == .reloadRevalidatingCacheData && !stored.control.contains("immutable")
        guard !isReload, !requiresValidation,
            !stored.control.contains("no-cache")
        else { return false }
        let lifetime = min(freshness.lifetime, control["max-age"].map(\.secondsOrZero) ?? .infinity)
        let remaining = lifetime - freshness.age
        if let minFresh = control["min-fresh"]?.secondsOrZero { return remaining > 0 && remaining >= minFresh }
        if remaining > 0 { return true }
        guard let maxStale = control["max-stale"], stored.allowsStaleUse else { return false }
        return maxStale.argument == nil || -remaining <= maxStale.secondsOrZero
    }

    private var requiresValidation: Bool {
        if control.contains("no-cache") { return true }
        // The HTTP/1.0 field `Pragma` applies only if there is no `Cache-Control` (RFC 9111, 5.4).
        return !request.headers.contains(.cacheControl)
            && CacheControl(lines: request.headers[values: .pragma]).contains("no-cache")
    }

    /// Returns the freshness of a stored response, with a heuristic lifetime if the resource seems to be static.
    ///
    /// The response to a query is usually generated, and a page for a user changes with the user's actions.
    private func freshness(of stored: CachedResponse, at now: Date) -> Freshness {
        let isStatic = request.url.query(percentEncoded: true) == nil && !hasUser
        return Freshness(of: stored, heuristic: isStatic && Self.cacheableByDefault.contains(stored.status), at: now)
    }

    private static let conditionsAndRange: Set<HTTPField.Name> = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
    ]

    // MARK: Storing

    /// Returns whether a response may be stored (RFC 9111, 3).
    ///
    /// Neither `private` nor `Authorization` prevents that, because this is a private cache.
    func allowsStoring(_ response: CachedResponse) -> Bool {
        let response = policy.applied(to: response)
        guard isCacheableRequest, response.varyingNames != nil else { return false }
        let control = response.control
        let isCacheable = Self.cacheableByDefault.contains(response.status)
        // If the server sets a lifetime, any final response may be stored, even a failure, so that an overloaded server
        // doesn't get the same request again.
        let hasLifetime = control.contains("max-age") || response.headers.contains(.expires)
        guard
            isCacheable || hasLifetime && response.status.code >= 200 && !Self.neverStored.contains(response.status)
        else { return false }
        let isUnderstood = isCacheable || Self.understoodStatuses.contains(response.status)
        // With `must-understand`, `no-store` only applies to caches that don't know the status (RFC 9111, 5.2.2.3).
        return control.contains("must-understand") ? isUnderstood : !control.contains("no-store")
    }

    /// Returns whether a response that isn't stored shows that the stored response is outdated.
    ///
    /// A failure doesn't show that, because the resource may be unchanged after the server has recovered. Nor does a
    /// 206 (Partial Content).
    func outdatesStored(_ status: HTTPStatus) -> Bool {
        isCacheableRequest && status.category == .success && status != .partialContent
    }

    /// The statuses that are cacheable by default (RFC 9110, 15.1), except 206 and 501.
    ///
    /// A 206 isn't complete. A stored 501 would outlast the repair of the server.
    private static let cacheableByDefault: Set<HTTPStatus> = [
        .ok, .nonAuthoritativeInformation, .noContent, .multipleChoices, .movedPermanently, .permanentRedirect,
        .notFound, .methodNotAllowed, .gone, .uriTooLong,
    ]

    /// The statuses that are never stored: 206 and 304, responses about credentials or the connection (which the next
    /// request may change), and the statuses of RFC 6585.
    private static let neverStored: Set<HTTPStatus> = [
        .partialContent, .notModified, .unauthorized, .proxyAuthenticationRequired, .requestTimeout,
        .preconditionFailed,
        .rangeNotSatisfiable, .expectationFailed, .misdirectedRequest, .tooEarly, .upgradeRequired,
        .preconditionRequired, .tooManyRequests, .requestHeaderFieldsTooLarge, .networkAuthenticationRequired,
    ]

    /// The statuses with known caching requirements, in addition to those that are cacheable by default.
    private static let understoodStatuses: Set<HTTPStatus> = [.found, .seeOther, .temporaryRedirect]

    // MARK: Invalidating

    /// Returns the URLs whose stored responses are outdated after a successful unsafe request (RFC 9111, 4.4).
    ///
    /// URLs in the response's fields count only if they have the same origin, because a server can't decide about other
    /// origins.
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
    /// Whether the response may be used without validation when it is stale.
    fileprivate var allowsStaleUse: Bool {
        let control = control
        return !control.contains("must-revalidate") && !control.contains("no-cache")
    }
}

extension CacheControl.Directive {
    /// The argument in seconds; an invalid number counts as 0.
    fileprivate var secondsOrZero: TimeInterval { duration.map { $0 / .seconds(1) } ?? 0 }
}

extension URLRequest.CachePolicy {
    /// Whether the policy allows a stored response of any age.
    fileprivate var acceptsAnyAge: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }

    /// The directive for caches between the client and the server.
    fileprivate var directive: CacheControl.Directive? {
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData: .noCache
        case .reloadRevalidatingCacheData: .maxAge(.zero)
        default: nil
        }
    }
}

/// The age and the freshness lifetime of a stored response (RFC 9111, 4.2), in seconds.
struct Freshness: Sendable, Hashable {
    /// The time since the server generated or validated the response.
    let age: TimeInterval
    /// The freshness lifetime, after which the response must be revalidated; 0 if there is none.
    let lifetime: TimeInterval

    /// Computes the age and the lifetime of a response.
    ///
    /// If the clock was set back, the age is unknown, and the response counts as stale. Otherwise, a clock that was a
    /// year ahead for a minute would keep responses for a year.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - allowsHeuristic: Whether a heuristic lifetime may be used if the server sets none (RFC 9111, 4.2.2).
    ///   - now: The current time.
    init(of response: CachedResponse, heuristic allowsHeuristic: Bool, at now: Date) {
        // A response without a date gets the date of its arrival (RFC 9110, 6.6.1).
        let date = response.headers.date(.date, now) ?? response.receivedAt
        let apparent = max(0, response.receivedAt.timeIntervalSince(date))
        let delay = max(0, response.receivedAt.timeIntervalSince(response.requestedAt))
        let resident = now.timeIntervalSince(response.receivedAt)
        age = max(apparent, response.headers.age + delay) + max(0, resident)
        lifetime = resident < 0 ? 0 : Self.lifetime(of: response, from: date, heuristic: allowsHeuristic, now)
    }

    // Implements RFC 9111, 4.2.1, for a private cache, which ignores `s-maxage`. An invalid lifetime makes the response
    // stale.
    private static func lifetime(
        of response: CachedResponse,
        from date: Date,
        heuristic allowsHeuristic: Bool,
        _ now: Date
    ) -> TimeInterval {
        if let maxAge = response.control["max-age"] {
            return maxAge.duration.map { $0 / .seconds(1) } ?? 0
        }
        if response.headers.contains(.expires) {
            // Some servers write UTC instead of GMT. Other fields are parsed leniently, but a lifetime must follow RFC
            // 9110, 5.6.7, which forbids UTC.
            guard response.headers[.expires]?.hasSuffix("UTC") == false else { return 0 }
            return response.headers.date(.expires, now).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        guard allowsHeuristic, let modified = response.headers.date(.lastModified, now) else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) / 10, maximumHeuristicLifetime)
    }

    private static let maximumHeuristicLifetime: TimeInterval = 24 * 60 * 60
}

extension HTTPHeaders {
    fileprivate func date(_ name: HTTPField.Name, _ now: Date) -> Date? {
        self[name].flatMap { HTTPDate(parsing: $0, now: now) }?.date
    }

    /// The value of `Age`.
    ///
    /// An invalid value is ignored, and of several values, the first counts (RFC 9111, 5.1).
    fileprivate var age: TimeInterval {
        guard let text = FieldScanner.elements(of: self[.age] ?? "").first, text.utf8.allSatisfy(ASCII.isDigit) else {
            return 0
        }
        return TimeInterval(Swift.min(Int64(text) ?? .max, 2_147_483_648))
    }
}

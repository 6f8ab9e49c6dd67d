// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The chain that every request runs through: the interceptors of the environment and of the request, the first one
/// outermost, then the links below, then the transport.
///
/// Each policy is one link, an ``Interceptor`` like those of users, which sends requests on by calling `next`. Their
/// order is the list here, outermost first.
enum Chain {
    /// Makes one link for a request, or none if its policy isn't in force.
    typealias Link = @Sendable (CallAttempt) -> (any Interceptor)?

    static let links: [Link] = [
        // Redirects come first, since all later links work for one address.
        { RedirectLink(policy: $0.options.redirect ?? $0.environment.redirect) },
        // Credentials answer the hop that was challenged; later links store and count the request with the answer.
        { CredentialLink($0.plan.interceptors, at: $0.plan.positions) },
        // Cookies are outside of the cache: those of a cached response were stored when it arrived, and it varies by
        // the sent ones.
        { $0.options.usesCookies ? $0.environment.cookies.map { CookieLink(cookies: $0) } : nil },
        // The cache is outside of all limits: a stored answer doesn't have to wait.
        { attempt in
            guard let cache = attempt.environment.cache else { return nil }
            guard attempt.operation.keepsContentInMemory else { return InvalidationLink(cache: cache) }
            guard attempt.options.usesCookies, let cookies = attempt.environment.cookies else {
                return CacheLink(cache: cache, policy: attempt.options.caching)
            }
            // Its background requests bypass the link before.
            return CacheLink(cache: cache, policy: attempt.options.caching) { head, request in
                if request.usesCookies { cookies.store(head, from: request.url) }
            }
        },
        // Equal requests share the following links; no request waits for a cached answer.
        { attempt in attempt.seat.map { CoalescingLink(seat: $0, attempt: attempt) } },
        // The rate is counted before a place is taken: a place that waits for its time would block others.
        { attempt in
            attempt.environment.rateLimiter.map { RateLink(limiter: $0, clock: attempt.environment.clock) }
        },
        // A place at the host is held from here to the end of the transfer.
        { $0.environment.hostLimiter.map { HostLink(limiter: $0) } },
        // The bandwidth comes last: it is to be used at once.
        { attempt in
            attempt.environment.bandwidthLimiter.map { BandwidthLink(limiter: $0, clock: attempt.environment.clock) }
        },
    ]
}

extension CallAttempt: ChainRunner {
    // The answer to every request returns through this function several times: it keeps as little state as possible.
    func send(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent> {
        let (link, next) = link(at: place)
        return try await link.intercept(request, context: InterceptorContext(self), next: next)
    }

    /// Returns the link at a position of the chain, and the rest behind it.
    @inline(never)
    private func link(at place: ChainPlace) -> (any Interceptor, Next) {
        var place = place
        if let permit = place.permit {
            place.permit = nil
            return (PermitLink(attempt: self, permit: permit), Next(self, place))
        }
        while place.index < plan.interceptors.count + Chain.links.count {
            place.index += 1
            let number = place.index - plan.interceptors.count - 1
            if number < 0 { return (UserLink(attempt: self, index: place.index - 1), Next(self, place)) }
            if let link = Chain.links[number](self) { return (link, Next(self, place)) }
        }
        return (TransportLink(attempt: self), Next(self, place))
    }
}

/// Lets a user's interceptor send a request, while it runs.
private struct UserLink: Interceptor {
    let attempt: CallAttempt
    let index: Int

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let permit = SendingPermit(for: request)
        defer { permit.end() }
        let (interceptor, position) = (attempt.plan.interceptors[index], attempt.plan.positions[index])
        let next = next.permitted(by: permit)
        return try await CallScope.run(interceptor, at: position, within: attempt.call.scope) {
            let context = InterceptorContext(attempt, request: request)
            return try await interceptor.intercept(request, context: context, next: next)
        }
    }
}

/// Checks the request that a user's interceptor sends on: it may have changed anything.
private struct PermitLink: Interceptor {
    let attempt: CallAttempt
    let permit: SendingPermit

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let request = try checked(request)
        var answer = try await CallScope.leave(to: attempt.call.scope) { try await next(request) }
        if answer.asked == nil { answer.asked = Box(request) }
        answer.makeDecoder = attempt.environment.ownDecoder
        return answer
    }

    private func checked(_ request: HTTPRequest) throws -> HTTPRequest {
        let given = try permit.use()
        var changed = request
        // Secrets that it added aren't sent to another origin.
        let own = OwnFields(described: [], inherited: attempt.environment.headers)
        changed.keepSecrets(of: FormerRequest(given), own: own, baseURL: attempt.environment.baseURL)
        try changed.resolve(baseURL: attempt.environment.baseURL, inheriting: [])
        attempt.markSecrets(of: &changed)
        if given.hasLeftOrigin { changed.leaveOrigin() }
        try changed.validate()
        return changed
    }
}

/// Sends a request over the transport.
private struct TransportLink: Interceptor {
    let attempt: CallAttempt

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let transmission = Transmission(request, cause: next.cause, heads: next.heads, for: attempt)
        guard attempt.operation.keepsContentInMemory else { return try await deliver(transmission) }
        return try await transmission.answer(isShielded: attempt.plan.interceptors.isEmpty)
    }

    /// Waits for a transfer whose content isn't received in memory.
    @inline(never)
    private func deliver(_ transmission: Transmission) async throws -> HTTPResponse<ResponseContent> {
        let answer: Result<HTTPResponse<ResponseContent>, any Error>
        do { answer = .success(try await transmission.answer()) } catch { answer = .failure(error) }
        let error = answer.failure as? RequestError
        switch attempt.operation.review(error, isDelivered: transmission.isDelivered) {
        case .usual: return try answer.get()
        case .again(let reason): throw AnotherPart(reason: reason)
        case .failure(let error): throw error
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

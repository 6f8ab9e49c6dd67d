// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The chain that every request goes through: the interceptors of the environment and of the request, the first one
/// outermost, then the links below, then the transport.
///
/// Each policy is one link, made of the same stuff as what a user writes: an ``Interceptor`` that sends on what it gets
/// by calling `next`. Their order is the list here, outermost first.
enum Chain {
    /// Makes one link for a request, or none where its policy isn't in force.
    typealias Link = @Sendable (CallAttempt) -> (any Interceptor)?

    static let links: [Link] = [
        // Redirects come first, since everything behind them belongs to one address.
        { RedirectLink(policy: $0.options.redirect ?? $0.environment.redirect) },
        // Credentials answer the hop that met a challenge; whatever is stored or counted below is that of the answer.
        { CredentialLink($0.plan.interceptors, at: $0.plan.positions) },
        // Cookies are outside of the cache: what a cached response set was stored when it came, and what it varies by is
        // what is sent.
        { $0.options.usesCookies ? $0.environment.cookies.map { CookieLink(cookies: $0) } : nil },
        // The cache is outside of all limits: an answer that is there already has no need to wait.
        { $0.operation.keepsContentInMemory ? $0.environment.cache.map { CacheLink(cache: $0) } : nil },
        // Equal requests share what comes from here on; no request has to wait for what a cache has.
        { attempt in attempt.seat.map { CoalescingLink(seat: $0, attempt: attempt) } },
        // The rate is counted before a place is taken: a place that waits for its time would keep others from theirs.
        { attempt in
            attempt.environment.rateLimiter.map { RateLink(limiter: $0, clock: attempt.environment.clock) }
        },
        // A place at the host is held from here to the end of the transfer.
        { $0.environment.hostLimiter.map { HostLink(limiter: $0) } },
        // The bandwidth comes last: what it allows is to be used at once.
        { attempt in
            attempt.environment.bandwidthLimiter.map { BandwidthLink(limiter: $0, clock: attempt.environment.clock) }
        },
    ]
}

extension CallAttempt: ChainRunner {
    func send(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent> {
        var place = place
        guard let permit = place.permit else { return try await forward(request, from: place) }
        place.permit = nil
        // An interceptor of a user's may have changed anything. Secrets that it found don't follow to another origin.
        var changed = request
        let given = try permit.use()
        let own = OwnFields(described: [], inherited: environment.headers)
        changed.keepSecrets(of: given, own: own, baseURL: environment.baseURL)
        try changed.resolve(baseURL: environment.baseURL, inheriting: [])
        changed.headers.markSecrets(environment.secretHeaders.union(options.secretHeaders))
        try changed.validate()
        let next = (request: changed, place: place)
        var answer = try await CallScope.leave(to: call.scope) { try await forward(next.request, from: next.place) }
        if answer.asked == nil { answer.asked = Box(changed) }
        return answer
    }

    /// Hands a request to the link at a place, or to the transport behind the last one.
    private func forward(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent> {
        var place = place
        if place.index < plan.interceptors.count {
            let (interceptor, position) = (plan.interceptors[place.index], plan.positions[place.index])
            place.index += 1
            return try await intercept(request, by: interceptor, at: position, place)
        }
        var number = place.index - plan.interceptors.count
        while number < Chain.links.count {
            number += 1
            guard let link = Chain.links[number - 1](self) else { continue }
            place.index = plan.interceptors.count + number
            return try await link.intercept(request, context: InterceptorContext(self), next: Next(self, place))
        }
        return try await transmit(request, from: place)
    }

    /// Lets a user's interceptor send a request, as long as it runs.
    private func intercept(
        _ request: HTTPRequest,
        by interceptor: any Interceptor,
        at position: Int,
        _ place: ChainPlace
    ) async throws -> HTTPResponse<ResponseContent> {
        let permit = SendingPermit(for: request)
        defer { permit.end() }
        var place = place
        place.permit = permit
        let next = Next(self, place)
        return try await CallScope.run(interceptor, at: position, within: call.scope) {
            try await interceptor.intercept(request, context: InterceptorContext(self, request: request), next: next)
        }
    }

    /// Sends a request over the transport.
    private func transmit(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent>
    {
        let transmission = Transmission(request, cause: place.cause, heads: place.heads, for: self)
        guard !operation.keepsContentInMemory else { return try await transmission.answer() }
        let answer: Result<HTTPResponse<ResponseContent>, any Error>
        do { answer = .success(try await transmission.answer()) } catch { answer = .failure(error) }
        switch operation.review(answer.failure as? RequestError, isDelivered: transmission.isDelivered) {
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The chain that every request runs through: the interceptors of the environment and of the request, the first one
/// outermost, then the links here, then the transport.
///
/// Each policy is one link, an ``Interceptor`` like those of users, which sends requests on by calling `next`. Their
/// order is the list here, outermost first.
enum Chain {
    /// Makes one link for a request, or none if its policy isn't in force.
    typealias Link = @Sendable (Try) -> (any Interceptor)?

    static let links: [Link] = [
        // A download asks for the missing parts of its file; all other links see each of them.
        { $0.operation.kind.content == .inMemory ? nil : PartsLink(operation: $0.operation) },
        // Redirects come next, since all later links work for one address.
        { RedirectLink(policy: $0.redirect) },
        // Credentials answer the hop that was challenged; later links store and count the request with the answer.
        { CredentialLink($0.plan.interceptors) },
        // Cookies are outside of the cache: those of a cached response were stored when it arrived, and it varies by
        // the sent ones.
        { $0.options.usesCookies ? $0.environment.cookies.map { CookieLink(cookies: $0) } : nil },
        // The cache is outside of all limits: a stored answer doesn't have to wait.
        { turn in
            guard let cache = turn.environment.cache else { return nil }
            guard turn.operation.kind.content == .inMemory else { return InvalidationLink(cache: cache) }
            guard turn.options.usesCookies, let cookies = turn.environment.cookies else {
                return CacheLink(cache: cache, policy: turn.options.caching)
            }
            // Its background requests bypass the link before.
            return CacheLink(cache: cache, policy: turn.options.caching) { head, request in
                if request.usesCookies { cookies.store(head, from: request.url) }
            }
        },
        // Equal requests share the following links; no request waits for a cached answer.
        { turn in CoalescingLink(for: turn) },
        // The rate is counted before a place is taken: a place that waits for its time would block others.
        { turn in turn.environment.rateLimiter.map { RateLink(limiter: $0, clock: turn.environment.clock) } },
        // A place at the host is held from here to the end of the transfer.
        { $0.environment.hostLimiter.map { HostLink(limiter: $0) } },
        // The bandwidth is the last limit: it should be used at once.
        { turn in
            turn.environment.bandwidthLimiter.map { BandwidthLink(limiter: $0, clock: turn.environment.clock) }
        },
        // After all waits, an outbox records that a server may get the request.
        { $0.environment.lastInterceptor },
    ]
}

extension Try {
    // The answer to every request returns through this function several times: it keeps as little state as possible.
    /// Sends a request from a position of the chain: through an interceptor, a link, or over the transport.
    func send(_ request: HTTPRequest, from next: Next) async throws -> Answer {
        guard next.permit == nil, next.index >= plan.interceptors.count else {
            return try await sendByUser(request, from: next)
        }
        guard let (link, rest) = link(from: next) else { return try await transfer(request, from: next) }
        return try await link.intercept(request, context: InterceptorContext(self), next: rest)
    }

    /// Returns the next link of the library's own that is in force, and the rest behind it; `nil` at the transport.
    @inline(never)
    private func link(from next: Next) -> (any Interceptor, Next)? {
        var number = next.index - plan.interceptors.count + (next.index == 0 ? operation.settings.firstLink : 0)
        while number < Chain.links.count {
            number += 1
            if let link = Chain.links[number - 1](self) { return (link, next.at(number + plan.interceptors.count)) }
        }
        return nil
    }

    /// Sends a request through the next of the user's interceptors, or passes on what the last one has sent.
    @inline(never)
    private func sendByUser(_ request: HTTPRequest, from next: Next) async throws -> Answer {
        if let permit = next.permit { return try await send(request, from: next, permittedBy: permit) }
        return try await intercept(request, by: plan.interceptors[next.index], next.at(next.index + 1))
    }

    /// Lets a user's interceptor send a request, while it runs.
    @inline(never)
    private func intercept(_ request: HTTPRequest, by placed: PlacedInterceptor, _ next: Next) async throws -> Answer {
        let permit = SendingPermit(for: request)
        defer { permit.end() }
        return try await blaming(placed) {
            try await RunScope.run(placed.interceptor, at: placed.position, within: scope) {
                let context = InterceptorContext(self, request: request)
                let next = next.at(next.index, permit: permit)
                return try await placed.interceptor.intercept(request, context: context, next: next)
            }
        }
    }

    /// Sends the request that a user's interceptor passes on, which may have changed anything.
    @inline(never)
    private func send(
        _ request: HTTPRequest,
        from next: Next,
        permittedBy permit: SendingPermit
    ) async throws -> Answer {
        let request = try checked(request, against: permit.use())
        var answer = try await RunScope.leave(to: scope) { try await send(request, from: next.at(next.index)) }
        if answer.asked == nil { answer.asked = Box(request) }
        answer.makeDecoder = environment.ownDecoder
        return answer
    }

    private func checked(_ request: HTTPRequest, against given: HTTPRequest) throws -> HTTPRequest {
        var changed = request
        attributeChanges(of: &changed, to: .interceptor, since: PreviousRequest(given))
        changed.keepUserInfo(of: given)
        try changed.resolve(baseURL: environment.baseURL, inheriting: [])
        changed.stayAway(by: given.fields.originChange)
        try changed.validate()
        return changed
    }

    /// Sends a request over the transport.
    @inline(never)
    private func transfer(_ request: HTTPRequest, from next: Next) async throws -> Answer {
        var request = request
        guard let transport = try operation.handling.transport(for: &request) else { throw CancellationError() }
        let transfer = Transfer(request, because: next.cause, heads: next.heads, for: self)
        // If only the end of the run can cancel the task, it cancels the transfer itself, and the task isn't observed.
        return try await transfer.answer(over: transport, for: self, isShielded: plan.interceptors.isEmpty)
    }
}

/// Lets an operation send its request as often as its content takes.
private struct PartsLink: Interceptor {
    let operation: AnyRequestOperation

    func intercept(_ request: HTTPRequest, context: InterceptorContext, next: Next) async throws -> Answer {
        try await operation.handling.send(request, through: next)
    }
}

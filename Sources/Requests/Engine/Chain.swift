// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The chain that every request passes: the interceptors of the environment and of the request, then the built-in
/// interceptors, then the transport.
///
/// Each policy is one ``Interceptor`` like those of users, and sends requests on by calling `next`.
enum Chain {
    /// Returns the interceptors whose policies apply to a request, outermost first.
    static func interceptors(
        _ users: [PlacedInterceptor],
        redirect: RedirectPolicy,
        cookies: (any CookieStorage)?,
        caching: ResponseCache.Policy,
        content: ContentDelivery,
        isShared: Bool,
        in environment: RequestEnvironment
    ) -> [any Interceptor] {
        var chain: [any Interceptor] = []
        chain.reserveCapacity(users.count + 4)
        for placed in users { chain.append(UserInterceptor(placed: placed)) }
        // A download asks for the missing parts of its file; all later interceptors see each of them.
        if content != .inMemory { chain.append(PartsInterceptor()) }
        // Redirects come next, because all later interceptors work for one address.
        chain.append(RedirectInterceptor(policy: redirect))
        // Credentials answer the hop that was challenged; later interceptors store and count the request with them.
        if let credentials = CredentialInterceptor(users) { chain.append(credentials) }
        // Cookies are outside of the cache: those of a cached response were stored when it arrived, and it varies by
        // the sent ones.
        if let cookies { chain.append(CookieInterceptor(cookies: cookies)) }
        // The cache is outside of all limits, because a stored response doesn't have to wait.
        if let cache = environment.cache {
            if content != .inMemory {
                chain.append(InvalidationInterceptor(cache: cache))
            } else if let cookies {
                // Its background requests bypass the interceptor before.
                chain.append(
                    CacheInterceptor(cache: cache, policy: caching) { head, request in
                        if request.usesCookies { cookies.store(head, from: request.url) }
                    }
                )
            } else {
                chain.append(CacheInterceptor(cache: cache, policy: caching))
            }
        }
        // Equal requests share all later interceptors; no request waits for a cached response.
        if isShared { chain.append(CoalescingInterceptor()) }
        // The rate is counted before a slot is taken: a slot that waits for its time would block others.
        if let limiter = environment.rateLimiter {
            chain.append(RateLimitInterceptor(limiter: limiter, clock: environment.clock))
        }
        // A slot of the host is held from here to the end of the transfer.
        if let limiter = environment.hostLimiter { chain.append(HostLimitInterceptor(limiter: limiter)) }
        // After all waits: from here on, a server may get the request.
        if let last = environment.lastInterceptor { chain.append(last) }
        chain.append(TransportInterceptor())
        return chain
    }
}

extension Attempt {
    /// Returns the attempt that a chain belongs to.
    ///
    /// - Throws: A ``RequestError`` of code `unsupported` outside of an operation's chain, where built-in interceptors
    ///   are never called.
    init(of context: InterceptorChain.Context) throws {
        guard let operation = context.run as? AnyRequestOperation else {
            throw RequestError(.unsupported, phase: .building, reason: "the context of a test sends nothing")
        }
        self.init(context.attempt, of: operation, operation.configuration)
    }
}

/// Sends a request over the transport: the end of every chain.
private struct TransportInterceptor: Interceptor {
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        try await Attempt(of: context).transfer(request, from: next)
    }
}

extension Attempt {
    /// Sends a request over the transport.
    @inline(never)
    fileprivate func transfer(_ request: HTTPRequest, from next: InterceptorChain) async throws -> RawResponse {
        var request = request
        guard let transport = try operation.handling.transport(for: &request) else { throw CancellationError() }
        let transfer = Transfer(request, because: next.cause, headObserver: next.headObserver, for: self)
        // Without interceptors, only the end of the run cancels the task, and it also cancels the transfer itself. So no
        // cancellation handler is needed.
        let ignoresTaskCancellation = configuration.interceptors.isEmpty
        return try await transfer.response(over: transport, for: self, ignoresTaskCancellation: ignoresTaskCancellation)
    }
}

/// Lets an operation send its request as often as its content takes.
private struct PartsInterceptor: Interceptor {
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        try await Attempt(of: context).operation.handling.send(request, through: next)
    }
}

/// Lets a caller's interceptor send requests while it runs.
private struct UserInterceptor: Interceptor {
    let placed: PlacedInterceptor

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let attempt = try Attempt(of: context)
        let requestChecker = Permit(for: request, in: attempt)
        defer { requestChecker.end() }
        return try await attempt.attributingErrors(placed) {
            try await NestingContext.run(placed.interceptor, at: placed.position, within: attempt.scope) {
                let context = attempt.context(for: request)
                let next = next.checked(by: requestChecker)
                return try await placed.interceptor.intercept(request, context: context, next: next)
            }
        }
    }

    /// Checks what the interceptor sends, which may have changed anything, and sends nothing after it has returned.
    private final class Permit: Interceptor {
        private let given: HTTPRequest
        private let attempt: Attempt
        private let isOver = Locked(false)

        /// - Parameters:
        ///   - given: The request that the interceptor got.
        ///   - attempt: The attempt that it is a part of.
        init(for given: HTTPRequest, in attempt: Attempt) {
            (self.given, self.attempt) = (given, attempt)
        }

        /// Ends the permission.
        func end() {
            isOver.withLock { $0 = true }
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> RawResponse {
            guard !isOver.withLock({ $0 }) else {
                let reason = "the interceptor that got `next` has returned"
                throw RequestError(.cancelled, phase: .sending, reason: reason)
            }
            let request = try checked(request)
            var answer = try await NestingContext.run(in: attempt.scope) { try await next(request) }
            if answer.notes.redirectedRequest == nil { answer.notes.redirectedRequest = Box(request) }
            answer.notes.makeDecoder = attempt.environment.customMakeDecoder
            return answer
        }

        private func checked(_ request: HTTPRequest) throws -> HTTPRequest {
            var changed = request
            attempt.attributeChanges(of: &changed, to: .interceptor, since: PreviousRequest(given))
            changed.restoreUserInfo(of: given)
            try changed.resolve(base: attempt.environment.base)
            changed.leaveOriginAgain(after: given.fields.notes.originChange)
            try changed.validate()
            return changed
        }
    }
}

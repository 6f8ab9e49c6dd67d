// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Builds the chain that every request passes through.
///
/// The chain contains the interceptors of the environment and of the request, then the built-in interceptors, then the
/// transport. Each built-in policy is an ``Interceptor`` like those of users, and sends a request on by calling `next`.
enum Chain {
    /// Returns the interceptors whose policies apply to a request, outermost first.
    static func interceptors(
        _ userInterceptors: [PlacedInterceptor],
        redirect: RedirectPolicy,
        cookies: (any CookieStorage)?,
        caching: ResponseCache.Policy,
        content: ContentDelivery,
        isShared: Bool,
        in environment: RequestEnvironment
    ) -> [any Interceptor] {
        var chain: [any Interceptor] = []
        chain.reserveCapacity(userInterceptors.count + 4)
        for placed in userInterceptors { chain.append(UserInterceptor(placed: placed)) }
        // A download requests the missing parts of its file, and all later interceptors see each of these requests.
        if content != .inMemory { chain.append(DownloadPartsInterceptor()) }
        // Redirects come next, because every later interceptor handles a request for only one URL.
        chain.append(RedirectInterceptor(policy: redirect))
        // Credentials come after redirects, because each hop is challenged separately. They come before the cache and
        // the limits, which must see the request with its credentials.
        if let credentials = CredentialInterceptor(userInterceptors) { chain.append(credentials) }
        // Cookies come before the cache, because a cached response varies by the cookies that were sent. The cookies
        // that the response set were stored when it arrived.
        if let cookies { chain.append(CookieInterceptor(cookies: cookies)) }
        // The cache comes before all limits, because a stored response doesn't have to wait for them.
        if let cache = environment.cache {
            if content != .inMemory {
                chain.append(InvalidationInterceptor(cache: cache))
            } else if let cookies {
                // The background requests of the cache bypass the cookie interceptor.
                chain.append(
                    CacheInterceptor(cache: cache, policy: caching) { head, request in
                        if request.usesCookies { cookies.store(head, from: request.url) }
                    }
                )
            } else {
                chain.append(CacheInterceptor(cache: cache, policy: caching))
            }
        }
        // Equal requests share all later interceptors. A request that the cache can answer never waits for a transfer.
        if isShared { chain.append(CoalescingInterceptor()) }
        // The rate limit comes before the host's limit, because a request that waited with a slot would block others.
        if let limiter = environment.rateLimiter {
            chain.append(RateLimitInterceptor(limiter: limiter, clock: environment.clock))
        }
        // A slot of the host is held from here to the end of the transfer.
        if let limiter = environment.hostLimiter { chain.append(HostLimitInterceptor(limiter: limiter)) }
        // The last interceptor comes after all waits, because a server may receive the request from here on.
        if let last = environment.lastInterceptor { chain.append(last) }
        chain.append(TransportInterceptor())
        return chain
    }
}

extension Attempt {
    /// Recreates the attempt from the context that a chain passes to its interceptors.
    ///
    /// - Throws: A ``RequestError`` with the code `unsupported` if the context doesn't belong to an operation. Built-in
    ///   interceptors never get such a context.
    init(of context: InterceptorChain.Context) throws {
        guard let operation = context.run as? AnyRequestOperation else {
            throw RequestError(.unsupported, phase: .building, reason: "a test's context can't send requests")
        }
        self.init(context.attempt, of: operation, operation.configuration)
    }
}

/// Sends a request over the transport, at the end of every chain.
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
        // Without interceptors, only the end of the run cancels the task, and the run cancels its transfers as well. So
        // no cancellation handler is needed.
        let ignoresTaskCancellation = configuration.interceptors.isEmpty
        return try await transfer.response(over: transport, for: self, ignoresTaskCancellation: ignoresTaskCancellation)
    }
}

/// Lets an operation send its request several times if its content requires that, such as a download in parts.
private struct DownloadPartsInterceptor: Interceptor {
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        try await Attempt(of: context).operation.handling.send(request, through: next)
    }
}

/// Calls a user's interceptor, and lets it send requests until it returns.
private struct UserInterceptor: Interceptor {
    let placed: PlacedInterceptor

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let attempt = try Attempt(of: context)
        let requestChecker = RequestChecker(for: request, in: attempt)
        defer { requestChecker.end() }
        return try await attempt.attributingErrors(placed) {
            try await NestingContext.run(placed.interceptor, at: placed.position, within: attempt.scope) {
                let context = attempt.context(for: request)
                let next = next.checked(by: requestChecker)
                return try await placed.interceptor.intercept(request, context: context, next: next)
            }
        }
    }

    /// Checks every request that an interceptor passes to `next`, and sends nothing after the interceptor has returned.
    private final class RequestChecker: Interceptor {
        private let originalRequest: HTTPRequest
        private let attempt: Attempt
        private let isOver = Locked(false)

        /// - Parameters:
        ///   - originalRequest: The request that was passed to the interceptor.
        ///   - attempt: The attempt that the interceptor runs in.
        init(for originalRequest: HTTPRequest, in attempt: Attempt) {
            (self.originalRequest, self.attempt) = (originalRequest, attempt)
        }

        func end() {
            isOver.withLock { $0 = true }
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> RawResponse {
            guard !isOver.withLock({ $0 }) else {
                let reason = "`next` was called after its interceptor had returned"
                throw RequestError(.cancelled, phase: .sending, reason: reason)
            }
            let request = try checked(request)
            var response = try await NestingContext.run(in: attempt.scope) { try await next(request) }
            if response.notes.redirectedRequest == nil { response.notes.redirectedRequest = Box(request) }
            response.notes.makeDecoder = attempt.environment.customMakeDecoder
            return response
        }

        private func checked(_ request: HTTPRequest) throws -> HTTPRequest {
            var changed = request
            attempt.attributeChanges(of: &changed, to: .interceptor, since: PreviousRequest(originalRequest))
            changed.restoreUserInfo(of: originalRequest)
            try changed.resolve(base: attempt.environment.base)
            changed.leaveOriginAgain(after: originalRequest.fields.notes.originChange)
            try changed.validate()
            return changed
        }
    }
}

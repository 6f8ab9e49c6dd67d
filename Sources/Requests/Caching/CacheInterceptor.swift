// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers requests from a cache if possible, and stores other responses.
struct CacheInterceptor: Interceptor {
    let cache: ResponseCache
    let policy: ResponseCache.Policy
    /// Called with the heads of responses that no other interceptor sees: those of validations in the background.
    var onHead: @Sendable (HTTPResponseHead, _ request: HTTPRequest) -> Void = { _, _ in }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        // A request that changes a resource removes its stored responses in any case.
        if policy == .none, request.method.isSafe {
            guard request.cachePolicy != .returnCacheDataDontLoad else {
                throw RequestError(.notCached, phase: .sending, request: request)
            }
            return try await next(request)
        }
        let use = CacheTransaction(of: cache, by: request, policy)
        switch use.decision(isRetry: next.cause == .retry) {
        case .fresh(let response):
            context.run.recordCachedResponse(to: request)
            return response.map { .data($0) }
        case .stale(let response, let outgoing, let stored):
            let validation = BackgroundValidation(caching: self, use: use, stored: stored)
            context.run.sendDetached(use.name, outgoing, through: validation, before: next)
            context.run.recordCachedResponse(to: request)
            return response.map { .data($0) }
        case .unavailable:
            throw RequestError(.notCached, phase: .sending, request: request)
        case .miss(let outgoing):
            return try await send(outgoing, use, next)
        case .revalidate(let outgoing, let stored):
            do {
                return try await send(outgoing, use, stored: stored, next)
            } catch let error as RequestError where CacheRules.isFailure(error.code) {
                guard let stale = use.answer(insteadOfError: stored) else { throw error }
                return stale.map { .data($0) }
            }
        }
    }

    /// Sends a request, and returns the response for the caller: after a 304 that only the cache asked for, the stored
    /// one.
    private func send(
        _ outgoing: HTTPRequest,
        _ use: CacheTransaction,
        stored: CachedResponse? = nil,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        let answer = try await sendChange(outgoing, of: use.request, next: next)
        // By the clock of the cache, since the start of the transfer: time spent waiting for a limit doesn't age the
        // response.
        let requestedAt = cache.now().addingTimeInterval(-((answer.metrics?.duration ?? .zero) / .seconds(1)))
        guard case .data(let content) = answer.body else { return answer }
        let isValidation = answer.status == .notModified && stored?.validators.isEmpty == false
        if isValidation, stored?.isMeant(by: answer.head) == false {
            // The server's response is another one, which only a request without conditions can get.
            var unconditional = outgoing
            for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { unconditional.headers.remove(name) }
            return try await send(unconditional, use, next)
        }
        var response = answer.map { _ in content }
        if let stored, isValidation {
            response = stored.validated(by: answer.head.headers, for: use.request.url)
        } else if let stored, CacheRules.isFailure(answer.status), let stale = use.answer(insteadOfError: stored) {
            return answer.replaced(by: stale)
        }
        if !answer.notes.isStoredElsewhere, !answer.notes.isTruncated { use.store(response, requestedAt: requestedAt) }
        guard isValidation else { return answer }
        return answer.replaced(by: response)
    }
}

extension CacheInterceptor {
    /// Validates a stored response that has been used although it is stale, and stores the response.
    private struct BackgroundValidation: Interceptor {
        let caching: CacheInterceptor
        let use: CacheTransaction
        let stored: CachedResponse

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> RawResponse {
            let next = next.observed { [caching, use] in caching.onHead($0, use.request) }
            return try await caching.send(request, use, stored: stored, next)
        }
    }

    /// Sends a request, and removes outdated responses if it has changed something.
    ///
    /// It has as soon as the head of the response says so, even if the content then fails to arrive.
    private func sendChange(
        _ outgoing: HTTPRequest,
        of request: HTTPRequest,
        next: InterceptorChain
    ) async throws -> RawResponse {
        guard !request.method.isSafe else { return try await next(outgoing) }
        let head = Locked<HTTPResponseHead?>(nil)
        // Not by the observer, which files would hold up.
        defer { if let head = head.withLock({ $0 }) { cache.invalidate(after: request, response: head) } }
        return try await next(outgoing) { received in head.withLock { $0 = received } }
    }
}

extension RawResponse {
    /// Returns a stored response, with the transfers of the response that it replaces.
    fileprivate func replaced(by stored: HTTPResponse<Data>) -> RawResponse {
        let notes = ResponseNotes(history: notes.history)
        return HTTPResponse(head: stored.head, body: .data(stored.body), notes: notes)
    }
}

extension ResponseCache {
    /// The use of the client's cache by one request.
    ///
    /// ```swift
    /// let balance = try await client.fetch(Get<Balance>("balance").caching(.none))
    /// let menu = try await client.fetch(Get<Menu>("menu").caching(.for(.seconds(600))))
    /// ```
    ///
    /// The request's `cachePolicy` decides which stored responses answer it, and whether it is sent.
    public enum Policy: Sendable, Hashable {
        /// Stored responses are used, and the response is stored, as HTTP defines it.
        case standard
        /// No stored response is used, and the response isn't stored.
        case none
        /// Stored responses answer the request for this time, whatever the server says; a new response is stored.
        ///
        /// A response that the server forbids to store, by `no-store`, isn't stored. The time counts from the arrival
        /// of the response, and only for requests with this policy: for others, the server's word counts.
        case `for`(_ lifetime: Duration)

        /// The response as the request sees it, if the request sets its own lifetime.
        ///
        /// The stored response keeps the server's word, which applies to other requests.
        func applied(to response: CachedResponse) -> CachedResponse {
            guard case .for(let lifetime) = self, response.status.category == .success,
                !response.control.contains("no-store")
            else { return response }
            var headers = response.headers
            // Without its date, it is as old as it has been here.
            for name in [HTTPField.Name.expires, .pragma, .age, .date] { headers.remove(name) }
            // What the server allows with a stale response, and forbids, stays: `no-cache` forbids its use, too.
            let kept = response.control.directives.filter {
                $0.name == "must-revalidate" || $0.name.hasPrefix("stale-")
            }
            let bans: [CacheControl.Directive] = response.control.contains("no-cache") ? [.mustRevalidate] : []
            headers.set(.cacheControl(CacheControl([.maxAge(lifetime)] + bans + kept)))
            return response.with(headers)
        }
    }
}

/// The answer of a cache to a request.
enum CacheDecision: Sendable {
    /// Nothing is stored: send this request, which is the caller's with additions of its policy.
    case miss(HTTPRequest)
    /// This is the response, and no request is needed.
    case fresh(HTTPResponse<Data>)
    /// This is the response; meanwhile, send this request to validate it.
    case stale(HTTPResponse<Data>, revalidate: HTTPRequest, stored: CachedResponse)
    /// Send this request, which validates the stored response if that is possible.
    case revalidate(HTTPRequest, stored: CachedResponse)
    /// There is no usable response, and the caller doesn't allow sending.
    case unavailable
}

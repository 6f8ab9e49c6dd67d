// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Returns cached responses if possible, and stores new responses.
struct CacheInterceptor: Interceptor {
    let cache: ResponseCache
    let policy: ResponseCache.Policy
    /// A closure that receives the heads of responses to background validations, which no other interceptor sees.
    var onHead: @Sendable (HTTPResponseHead, _ request: HTTPRequest) -> Void = { _, _ in }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        // A successful unsafe request removes stored responses even with the policy `none`.
        if policy == .none, request.method.isSafe {
            guard request.cachePolicy != .returnCacheDataDontLoad else {
                throw RequestError(.notCached, phase: .sending, request: request)
            }
            return try await next(request)
        }
        let transaction = CacheTransaction(of: cache, by: request, policy)
        switch transaction.decision(isRetry: next.cause == .retry) {
        case .fresh(let response):
            context.run.recordCachedResponse(to: request)
            return response.map { .data($0) }
        case .stale(let response, let outgoing, let stored):
            let validation = BackgroundValidation(caching: self, transaction: transaction, stored: stored)
            context.run.sendDetached(transaction.name, outgoing, through: validation, before: next)
            context.run.recordCachedResponse(to: request)
            return response.map { .data($0) }
        case .unavailable:
            throw RequestError(.notCached, phase: .sending, request: request)
        case .miss(let outgoing):
            return try await send(outgoing, transaction, next)
        case .revalidate(let outgoing, let stored):
            do {
                return try await send(outgoing, transaction, stored: stored, next)
            } catch let error as RequestError where CacheRules.isFailure(error.code) {
                guard let stale = transaction.staleResponse(insteadOfError: stored) else { throw error }
                return stale.map { .data($0) }
            }
        }
    }

    /// Sends a request, and returns the response for the caller.
    ///
    /// If the server confirms the stored response with 304, this method returns the stored response.
    private func send(
        _ outgoing: HTTPRequest,
        _ transaction: CacheTransaction,
        stored: CachedResponse? = nil,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        let received = try await sendInvalidating(outgoing, of: transaction.request, next: next)
        // The start of the transfer by the cache's clock. Time that the request has spent waiting for a limiter doesn't
        // count toward the age of the response.
        let requestedAt = cache.now().addingTimeInterval(-((received.metrics?.duration ?? .zero) / .seconds(1)))
        guard case .data(let content) = received.body else { return received }
        let isValidation = received.status == .notModified && stored?.validators.isEmpty == false
        if isValidation, stored?.isConfirmed(by: received.head) == false {
            // The 304 refers to a response other than the stored one. To get that response, send an unconditional
            // request.
            var unconditional = outgoing
            for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { unconditional.headers.remove(name) }
            return try await send(unconditional, transaction, next)
        }
        var response = received.map { _ in content }
        if let stored, isValidation {
            response = stored.validated(by: received.head.headers, for: transaction.request.url)
        } else if let stored, CacheRules.isFailure(received.status),
            let stale = transaction.staleResponse(insteadOfError: stored)
        {
            return received.replaced(by: stale)
        }
        if !received.notes.isStoredElsewhere, !received.notes.isTruncated {
            transaction.store(response, requestedAt: requestedAt)
        }
        guard isValidation else { return received }
        return received.replaced(by: response)
    }
}

extension CacheInterceptor {
    /// Validates a stale response that was already delivered, and stores the result.
    private struct BackgroundValidation: Interceptor {
        let caching: CacheInterceptor
        let transaction: CacheTransaction
        let stored: CachedResponse

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> RawResponse {
            let next = next.observed { [caching, transaction] in caching.onHead($0, transaction.request) }
            return try await caching.send(request, transaction, stored: stored, next)
        }
    }

    /// Sends a request, and removes outdated responses if the request has changed something.
    ///
    /// The head of the response determines whether that is the case, even if the content then fails to arrive.
    private func sendInvalidating(
        _ outgoing: HTTPRequest,
        of request: HTTPRequest,
        next: InterceptorChain
    ) async throws -> RawResponse {
        guard !request.method.isSafe else { return try await next(outgoing) }
        let head = Locked<HTTPResponseHead?>(nil)
        // Invalidate after the transfer, because file operations would block the thread that reports the head.
        defer { if let head = head.withLock({ $0 }) { cache.invalidate(after: request, response: head) } }
        return try await next(outgoing) { newHead in head.withLock { $0 = newHead } }
    }
}

extension RawResponse {
    /// Returns a stored response that has the transfers of the response it replaces.
    fileprivate func replaced(by stored: HTTPResponse<Data>) -> RawResponse {
        let notes = ResponseNotes(history: notes.history)
        return HTTPResponse(head: stored.head, body: .data(stored.body), notes: notes)
    }
}

extension ResponseCache {
    /// A request's policy for using the client's cache.
    ///
    /// ```swift
    /// let balance = try await client.fetch(Get<Balance>("balance").caching(.none))
    /// let menu = try await client.fetch(Get<Menu>("menu").caching(.for(.seconds(600))))
    /// ```
    ///
    /// In addition, the request's `cachePolicy` decides which stored responses may be used, and whether the request is
    /// sent.
    public enum Policy: Sendable, Hashable {
        /// Stored responses are used, and the response is stored, according to the rules of HTTP.
        case standard
        /// Stored responses aren't used, and the response isn't stored.
        case none
        /// Stored responses are used for this time, whatever lifetime the server sets, and a new response is stored.
        ///
        /// A response with `no-store` isn't stored. The lifetime starts when the response arrives, and only applies to
        /// requests with this policy. For other requests, the server's lifetime applies.
        case `for`(_ lifetime: Duration)

        /// Returns the response with the request's lifetime, if the request sets one.
        ///
        /// The stored response itself keeps the server's lifetime, which applies to other requests.
        func applied(to response: CachedResponse) -> CachedResponse {
            guard case .for(let lifetime) = self, response.status.category == .success,
                !response.control.contains("no-store")
            else { return response }
            var headers = response.headers
            // Without a date, the age starts when the response was received.
            for name in [HTTPField.Name.expires, .pragma, .age, .date] { headers.remove(name) }
            // Keep the server's rules for stale responses, and replace `no-cache` with `must-revalidate`.
            let preserved = response.control.directives.filter {
                $0.name == "must-revalidate" || $0.name.hasPrefix("stale-")
            }
            let required: [CacheControl.Directive] = response.control.contains("no-cache") ? [.mustRevalidate] : []
            headers.set(.cacheControl(CacheControl([.maxAge(lifetime)] + required + preserved)))
            return response.with(headers)
        }
    }
}

/// A cache's decision about a request.
enum CacheDecision: Sendable {
    /// Send this request, because no stored response can be used.
    case miss(HTTPRequest)
    /// Use this response without sending a request.
    case fresh(HTTPResponse<Data>)
    /// Use this response, and send the request in the background to validate it.
    case stale(HTTPResponse<Data>, revalidate: HTTPRequest, stored: CachedResponse)
    /// Send this request, which validates the stored response if possible.
    case revalidate(HTTPRequest, stored: CachedResponse)
    /// Fail, because there is no usable response and the caller doesn't allow sending the request.
    case unavailable
}

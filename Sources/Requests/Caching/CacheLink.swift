// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers from a cache what that may answer, and stores what comes of the rest.
struct CacheLink: Interceptor {
    let cache: ResponseCache
    let policy: ResponseCache.Policy
    /// Called with the heads of responses that no other link sees: those of validations in the background.
    var onHead: @Sendable (HTTPResponseHead, _ request: HTTPRequest) -> Void = { _, _ in }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        // What changes something removes what is stored of it in any case.
        if policy == .none, request.method.isSafe { return try await next(request) }
        switch cache.answer(to: request, isRetry: next.cause == .retry, policy) {
        case .fresh(let response):
            context.source.recordAnswer(to: request)
            return response.map { .data($0) }
        case .stale(let response, let outgoing, let stored):
            let name = cache.name(of: request)
            context.source.detach(name, request, through: next) { [onHead] next in
                let next = next.observed { onHead($0, request) }
                return try await send(outgoing, for: request, stored: stored, next: next)
            }
            context.source.recordAnswer(to: request)
            return response.map { .data($0) }
        case .unavailable:
            throw RequestError(.notCached, phase: .sending, request: request)
        case .miss(let outgoing):
            return try await send(outgoing, for: request, stored: nil, next: next)
        case .revalidate(let outgoing, let stored):
            do {
                return try await send(outgoing, for: request, stored: stored, next: next)
            } catch let error as RequestError where CacheRules.isFailure(error.code) {
                guard let stale = cache.answer(insteadOfError: stored, for: request, policy) else { throw error }
                return stale.map { .data($0) }
            }
        }
    }

    /// Sends a request, and returns what the caller gets to see: after a 304 that only the cache asked for, what it has.
    private func send(
        _ outgoing: HTTPRequest,
        for request: HTTPRequest,
        stored: CachedResponse?,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let answer = try await sendChange(outgoing, of: request, next: next)
        // By the clock of the cache, from when the transfer began: what was waited for a limit before makes nothing old.
        let requestedAt = cache.now().addingTimeInterval(-((answer.metrics?.duration ?? .zero) / .seconds(1)))
        guard case .data(let content) = answer.body else { return answer }
        let response = answer.map { _ in content }
        // Those of a change are recorded with the head.
        if request.method.isSafe { cache.recordCookies(of: answer.head, to: request, requestedAt: requestedAt) }
        if let stored {
            if response.status == .notModified, !stored.validators.isEmpty {
                let refreshed = cache.refresh(
                    stored,
                    with: response.head,
                    for: request,
                    requestedAt: requestedAt,
                    isStoredElsewhere: answer.isStoredElsewhere,
                    policy
                )
                return HTTPResponse(head: refreshed.head, body: .data(refreshed.body), history: response.history)
            }
            if CacheRules.isFailure(response.status),
                let stale = cache.answer(insteadOfError: stored, for: request, policy)
            {
                return HTTPResponse(head: stale.head, body: .data(stale.body), history: response.history)
            }
        }
        if !answer.isStoredElsewhere, !answer.isCut {
            cache.store(response, for: request, requestedAt: requestedAt, policy)
        }
        return answer
    }
}

extension CacheLink {
    /// Sends a request, and removes what is over if it has changed something.
    ///
    /// It has as soon as the head of the response says so, also if the content then fails to arrive.
    private func sendChange(
        _ outgoing: HTTPRequest,
        of request: HTTPRequest,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard !request.method.isSafe else { return try await next(outgoing) }
        let head = Locked<HTTPResponseHead?>(nil)
        // Not by the observer, which files would hold up.
        defer { if let head = head.withLock({ $0 }) { cache.noteChange(by: request, answeredWith: head) } }
        return try await next(outgoing) { received in head.withLock { $0 = received } }
    }
}

/// Removes from a cache what is over since a request changed something, where the content of the response goes elsewhere
/// than to memory.
struct InvalidationLink: Interceptor {
    let cache: ResponseCache

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        // At the head, which the caller sees at once: a stream may have no end.
        try await next(request) { [cache] head in
            if request.method.isSafe {
                cache.recordCookies(of: head, to: request, requestedAt: cache.now())
            } else {
                cache.noteChange(by: request, answeredWith: head)
            }
        }
    }
}

extension ResponseCache {
    /// Removes what is over since a request changed something, and records whom it may have logged in.
    fileprivate func noteChange(by request: HTTPRequest, answeredWith head: HTTPResponseHead) {
        invalidate(after: request, answeredWith: head)
        recordCookies(of: head, to: request, requestedAt: now())
    }
}

extension ResponseCache {
    /// How one request uses the cache of its client.
    ///
    /// ```swift
    /// let balance = try await client.fetch(Get<Balance>("balance").caching(.none))
    /// let menu = try await client.fetch(Get<Menu>("menu").caching(.for(.seconds(600))))
    /// ```
    ///
    /// Which stored responses answer a request, and whether it is sent, is said by its `cachePolicy`.
    public struct Policy: Sendable, Hashable {
        private enum Kind: Hashable {
            case standard
            case none
            case lifetime(Duration)
        }

        private let kind: Kind

        /// Stored responses are used, and the response is stored, as HTTP says.
        public static let standard = ResponseCache.Policy(kind: .standard)
        /// No stored response is used, and the response isn't stored.
        public static let none = ResponseCache.Policy(kind: .none)
        /// A stored response answers the request for a time, whatever the server says about that; its response is stored.
        ///
        /// One that the server forbids to store, by `no-store`, isn't. The time counts for requests that say it, from when the
        /// response came: others are answered as the server says.
        public static func `for`(_ lifetime: Duration) -> ResponseCache.Policy {
            ResponseCache.Policy(kind: .lifetime(lifetime))
        }

        /// The response as the request sees it, where it is asked how old it may get.
        ///
        /// What is stored stays what the server said: another request goes by that.
        func applied(to response: CachedResponse) -> CachedResponse {
            guard case .lifetime(let lifetime) = kind, response.status.category == .success,
                !response.control.contains("no-store")
            else { return response }
            var headers = response.headers
            // Without its date, it is as old as it has been here.
            for name in [HTTPField.Name.expires, .pragma, .age, .date] { headers.remove(name) }
            let kept = response.control.directives.filter { directive in
                ["stale-if-error", "stale-while-revalidate"].contains(directive.name.lowercased())
            }
            headers.set(.cacheControl(CacheControl([.maxAge(lifetime)] + kept)))
            return response.with(headers)
        }
    }
}

/// What a cache says to a request.
enum CacheAnswer: Sendable {
    /// Nothing: send this request, which is the caller's but for what its policy adds.
    case miss(HTTPRequest)
    /// This is the response, and nothing has to be sent.
    case fresh(HTTPResponse<Data>)
    /// This is the response; send this request meanwhile, which asks whether it is still the same.
    case stale(HTTPResponse<Data>, revalidate: HTTPRequest, stored: CachedResponse)
    /// Send this request, which asks whether the stored response is still the same, if there is a way to ask that.
    case revalidate(HTTPRequest, stored: CachedResponse)
    /// There is no response that may be used, and the caller wants nothing to be sent.
    case unavailable
}

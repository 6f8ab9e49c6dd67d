// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor that sees some requests only.
struct ScopedInterceptor<Base: Interceptor>: Interceptor {
    let base: Base
    private let includes: @Sendable (HTTPRequest) -> Bool

    fileprivate init(_ base: Base, _ includes: @escaping @Sendable (HTTPRequest) -> Bool) {
        self.base = base
        self.includes = includes
    }

    func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        guard includes(request) else { return }
        try await base.adapt(&request, context: context)
    }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        guard includes(request) else { return try await next(request) }
        return try await base.intercept(request, context: context, next: next)
    }

    // Redirects followed: the request is the one that was answered.
    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
        guard let request = context.request, includes(request) else { return }
        try base.transform(&response, context: context)
    }

    // The request as it was before redirects decides.
    func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard let sent = error.originalRequest, includes(sent) else { return .pass }
        return await base.retry(error, context: context)
    }
}

extension RequestError {
    /// The request of the last attempt as it was before redirects and challenges.
    fileprivate var originalRequest: HTTPRequest? {
        transfers.last { $0.cause == .initial || $0.cause == .retry }?.request ?? request
    }
}

/// An interceptor that is another one, with a difference.
protocol InterceptorWrapper {
    var wrapped: any Interceptor { get }
}

extension ScopedInterceptor: InterceptorWrapper {
    var wrapped: any Interceptor { base }
}

// Each protocol of the library's own that an interceptor conforms to is passed on, or a limit would take its effect
// away.

extension ScopedInterceptor: RejectionHandling where Base: RejectionHandling {
    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard let sent = error.originalRequest, includes(sent) else { return .pass }
        return await base.handleRejection(error, context: context)
    }
}

extension ScopedInterceptor: HopAuthenticating where Base: HopAuthenticating {
    func authenticate(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        proxy: () -> ProxyRoute?,
        send: (HTTPRequest, TransferRecord.Cause?) async throws -> RawResponse
    ) async throws -> RawResponse {
        guard includes(request) else { return try await send(request, nil) }
        return try await base.authenticate(request, context: context, proxy: proxy, send: send)
    }
}

extension Interceptor {
    /// Returns the same interceptor for some requests only.
    ///
    /// ```swift
    /// environment.interceptors.append(signature.scoped { $0.url.path.hasPrefix("/orders") })
    /// ```
    ///
    /// - Parameter includes: Whether a request is one of them. It sees a request that is about to be sent as the
    ///   interceptors before this one left it, and one that failed as it was sent, before it was redirected. For
    ///   ``ChallengeInterceptor``, which answers each address by itself, it sees the request to that address.
    /// - Returns: The interceptor for those requests.
    public func scoped(to includes: @escaping @Sendable (HTTPRequest) -> Bool) -> some Interceptor {
        ScopedInterceptor(self, includes)
    }
}

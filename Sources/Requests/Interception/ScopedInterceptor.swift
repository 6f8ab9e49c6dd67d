// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor that is applied only to some requests.
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

    // The context contains the request that the response belongs to, even after redirects.
    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
        guard let request = context.request, includes(request) else { return }
        try base.transform(&response, context: context)
    }

    // The request as it was before redirects determines whether the interceptor is applied.
    func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard let sent = error.originalRequest, includes(sent) else { return .pass }
        return await base.retry(error, context: context)
    }
}

extension RequestError {
    /// The request of the last attempt, before redirects and challenges.
    fileprivate var originalRequest: HTTPRequest? {
        transfers.last { $0.cause == .initial || $0.cause == .retry }?.request ?? request
    }
}

/// An interceptor that wraps another interceptor.
protocol InterceptorWrapper {
    var wrapped: any Interceptor { get }
}

extension ScopedInterceptor: InterceptorWrapper {
    var wrapped: any Interceptor { base }
}

// A scoped interceptor must keep the internal conformances of its base, or scoping would disable them.

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
    /// Returns this interceptor, applied only to some requests.
    ///
    /// ```swift
    /// environment.interceptors.append(signature.scoped { $0.url.path.hasPrefix("/orders") })
    /// ```
    ///
    /// - Parameter includes: Returns whether the interceptor is applied to a request. Before a request is sent, the
    ///   closure receives it as changed by earlier interceptors. After a failure, the closure receives the request as
    ///   it was sent before redirects. For ``ChallengeInterceptor``, which answers the challenges of each URL
    ///   separately, the closure receives the request to that URL.
    /// - Returns: The scoped interceptor.
    public func scoped(to includes: @escaping @Sendable (HTTPRequest) -> Bool) -> some Interceptor {
        ScopedInterceptor(self, includes)
    }
}

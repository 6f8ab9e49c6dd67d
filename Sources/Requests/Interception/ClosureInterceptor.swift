// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor made of closures, one for each method of ``Interceptor``.
///
/// ```swift
/// environment.interceptors = [
///     .adapting { $0.headers["X-Request-ID"] = UUID().uuidString },
///     .intercepting { request, next in
///         if let known = table[request.url] { return known }
///         return try await next(request)
///     },
///     .transforming { $0.headers["X-Seen"] = "yes" },
///     .retrying { $0.response?.status == .locked && $0.transfers.count < 3 ? .retry(after: .seconds(1)) : .pass },
///     .signing { $0.headers["X-Signature"] = try key.signature(of: $0) },
/// ]
/// ```
public struct ClosureInterceptor: Interceptor {
    /// Modifies a request before it is sent.
    public typealias Adapt = @Sendable (inout HTTPRequest, InterceptorChain.Context) async throws -> Void
    /// Sends a request, and returns the response.
    public typealias Intercept =
        @Sendable (HTTPRequest, InterceptorChain.Context, InterceptorChain) async throws -> HTTPResponse<
            ResponseContent
        >
    /// Modifies a response before it is validated.
    public typealias Transform = @Sendable (inout HTTPResponse<Data>, InterceptorChain.Context) throws -> Void
    /// Decides whether to retry after a failure.
    public typealias Retry = @Sendable (RequestError, InterceptorChain.Context) async -> RetryPolicy.Decision

    private let adaptation: Adapt?
    private let interception: Intercept?
    private let transformation: Transform?
    private let decision: Retry?

    /// Creates an interceptor from closures that implement the methods of ``Interceptor``; `nil` selects the default.
    public init(
        adapt: Adapt? = nil,
        intercept: Intercept? = nil,
        transform: Transform? = nil,
        retry: Retry? = nil
    ) {
        adaptation = adapt
        interception = intercept
        transformation = transform
        decision = retry
    }

    /// Calls the closure that modifies the request.
    ///
    /// - Throws: Any error that the closure throws.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        guard let adaptation else { return context.markDefaultImplementation() }
        try await adaptation(&request, context)
    }

    /// Calls the closure that sends the request.
    ///
    /// - Throws: Any error that the closure throws.
    public func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let interception else {
            context.markDefaultImplementation()
            return try await next(request)
        }
        return try await interception(request, context, next)
    }

    /// Calls the closure that modifies the response.
    ///
    /// - Throws: Any error that the closure throws.
    public func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
        try transformation?(&response, context)
    }

    /// Calls the closure that decides about a failure.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        await decision?(error, context) ?? .pass
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Returns an interceptor that modifies every request with a closure, before every attempt.
    ///
    /// If the closure throws an error, the operation fails with that error.
    public static func adapting(
        _ change: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, _ in try await change(&request) })
    }

    /// Returns an interceptor that sends every request with a closure.
    ///
    /// The closure may return a response without calling `next`, or send another request.
    public static func intercepting(
        _ intercept: @escaping @Sendable (HTTPRequest, InterceptorChain) async throws -> HTTPResponse<ResponseContent>
    ) -> ClosureInterceptor {
        ClosureInterceptor(intercept: { request, _, next in try await intercept(request, next) })
    }

    /// Returns an interceptor that modifies every response with a closure, before the response is validated.
    ///
    /// If the closure throws an error, the request fails with that error.
    public static func transforming(
        _ change: @escaping @Sendable (inout HTTPResponse<Data>) throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(transform: { response, _ in try change(&response) })
    }

    /// Returns an interceptor that decides about every failure with a closure.
    ///
    /// If the closure returns `pass`, the next interceptor decides, and finally the retry policy. Retries by the
    /// closure aren't limited; the error's `transfers` show how many requests were sent.
    public static func retrying(
        _ decide: @escaping @Sendable (RequestError) async -> RetryPolicy.Decision
    ) -> ClosureInterceptor {
        ClosureInterceptor(retry: { error, _ in await decide(error) })
    }

    /// Returns an interceptor that signs every request to the origin of the base URL.
    ///
    /// Without a base URL, every request is signed. If this is the last interceptor, the closure receives the request
    /// as it will be sent. Header fields that the closure changes become secrets. They don't appear in descriptions,
    /// and aren't sent to another origin.
    public static func signing(
        _ sign: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            guard request.inherits(from: context.baseURL) else { return }
            let headers = request.headers
            try await sign(&request)
            request.headers.markSecrets(addedTo: headers)
        })
    }

    /// Returns an interceptor that modifies every request as a Foundation `URLRequest`, for code that only supports
    /// that type.
    ///
    /// Only properties that the closure changes are applied. Everything that a `URLRequest` can't represent stays
    /// unchanged, such as repeated header fields, their order, and file bodies. The closure doesn't see file and stream
    /// bodies. The initial `timeoutInterval` is the effective timeout of the request, which may be the environment's.
    /// If the result is invalid, the request fails with the code `invalidRequest`.
    public static func modifyingURLRequest(
        _ modify: @escaping @Sendable (inout URLRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            // The closure receives the complete URL, so that a changed URL replaces all of it.
            try request.resolve(base: context.baseURL.map(BaseURL.init))
            var original = URLRequest(withoutStreamsOf: request)
            // With Foundation's default of 60 seconds, a change to 60 seconds would go unnoticed.
            if let timeout = request.timeout ?? context.run.settings.timeout {
                original.timeoutInterval = timeout / .seconds(1)
            }
            var changed = original
            try await modify(&changed)
            try request.merge(changed, changedFrom: original)
        })
    }
}

extension HTTPRequest {
    fileprivate mutating func merge(_ changed: URLRequest, changedFrom original: URLRequest) throws {
        let imported = try HTTPRequest(changed)
        if changed.url != original.url { fields.address = imported.fields.address }
        if changed.httpMethod != original.httpMethod { method = imported.method }
        let (before, after) = (original.allHTTPHeaderFields ?? [:], changed.allHTTPHeaderFields ?? [:])
        for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
            headers[HTTPField.Name(name)] = after[name]
        }
        let hasBody = changed.httpBody != nil || changed.httpBodyStream != nil
        if changed.httpBody != original.httpBody || changed.httpBodyStream !== original.httpBodyStream {
            body = hasBody ? imported.body : .none
        }
        if changed.timeoutInterval != original.timeoutInterval { timeout = changed.timeout }
        if changed.cachePolicy != original.cachePolicy { cachePolicy = imported.cachePolicy }
        if changed.allowsCellularAccess != original.allowsCellularAccess {
            allowsCellularAccess = imported.allowsCellularAccess
        }
        if changed.httpShouldHandleCookies != original.httpShouldHandleCookies { usesCookies = imported.usesCookies }
        fields.template = imported.fields.template
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor made of closures, one for each method of an interceptor.
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
    /// Changes a request before it is sent.
    public typealias Adapt = @Sendable (inout HTTPRequest, InterceptorChain.Context) async throws -> Void
    /// Sends a request on, and returns the answer.
    public typealias Intercept =
        @Sendable (HTTPRequest, InterceptorChain.Context, InterceptorChain) async throws -> HTTPResponse<
            ResponseContent
        >
    /// Changes a response before it is judged.
    public typealias Transform = @Sendable (inout HTTPResponse<Data>, InterceptorChain.Context) throws -> Void
    /// Decides about a failure.
    public typealias Retry = @Sendable (RequestError, InterceptorChain.Context) async -> RetryPolicy.Decision

    private let adaptation: Adapt?
    private let interception: Intercept?
    private let transformation: Transform?
    private let decision: Retry?

    /// Makes an interceptor of closures that are called like the methods of ``Interceptor``; `nil` does nothing.
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

    /// Calls the closure to change the request.
    ///
    /// - Throws: Any error that the closure throws.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        guard let adaptation else { return context.markDefaultImplementation() }
        try await adaptation(&request, context)
    }

    /// Calls the closure to send the request.
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

    /// Calls the closure to change the response.
    ///
    /// - Throws: Any error that the closure throws.
    public func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
        try transformation?(&response, context)
    }

    /// Calls the closure to decide.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        await decision?(error, context) ?? .pass
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Changes every request in a closure, before every attempt.
    ///
    /// An error that the closure throws is the failure of the operation.
    public static func adapting(
        _ change: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, _ in try await change(&request) })
    }

    /// Sends every request in a closure, which may answer it without `next`, or send another one.
    public static func intercepting(
        _ intercept: @escaping @Sendable (HTTPRequest, InterceptorChain) async throws -> HTTPResponse<ResponseContent>
    ) -> ClosureInterceptor {
        ClosureInterceptor(intercept: { request, _, next in try await intercept(request, next) })
    }

    /// Changes every response in a closure, before it is judged.
    ///
    /// An error that the closure throws is the failure of the request.
    public static func transforming(
        _ change: @escaping @Sendable (inout HTTPResponse<Data>) throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(transform: { response, _ in try change(&response) })
    }

    /// Decides about every failure in a closure; `pass` leaves that to the next interceptor, and finally to the retry
    /// policy.
    ///
    /// The closure's retries aren't limited; the error's transfers show how many there were.
    public static func retrying(
        _ decide: @escaping @Sendable (RequestError) async -> RetryPolicy.Decision
    ) -> ClosureInterceptor {
        ClosureInterceptor(retry: { error, _ in await decide(error) })
    }

    /// Signs every request to the origin of the base URL, in a closure; without a base URL, every request.
    ///
    /// The closure gets the request as it will be sent, if this is the last interceptor. Header fields that it changes
    /// become secrets: no description shows them, and no other origin receives them.
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

    /// Changes every request as Foundation's `URLRequest`, for code that supports only that.
    ///
    /// Only properties that the closure changes are applied: repeated and ordered header fields, a file as body, and
    /// everything else that a `URLRequest` can't represent stay unchanged. A body that is a file or a stream isn't
    /// shown. Its `timeoutInterval` is at first the effective timeout of the request, which may be the environment's.
    /// An invalid result is an error of code `invalidRequest`.
    public static func modifyingURLRequest(
        _ modify: @escaping @Sendable (inout URLRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            // The closure gets the complete address, so that its result replaces the whole.
            try request.resolve(base: context.baseURL.map(BaseURL.init))
            var original = URLRequest(withoutStreamsOf: request)
            // The value if the closure doesn't change it; with Foundation's 60 seconds, a change to 60 seconds would go
            // unnoticed.
            if let timeout = request.timeout ?? context.run.settings.timeout {
                original.timeoutInterval = timeout / .seconds(1)
            }
            var changed = original
            try await modify(&changed)
            try request.takeOver(changed, changedFrom: original)
        })
    }
}

extension HTTPRequest {
    fileprivate mutating func takeOver(_ changed: URLRequest, changedFrom original: URLRequest) throws {
        let imported = try HTTPRequest(changed)
        if changed.url != original.url { fields.address = imported.fields.address }
        if changed.httpMethod != original.httpMethod { method = imported.method }
        let (before, after) = (original.allHTTPHeaderFields ?? [:], changed.allHTTPHeaderFields ?? [:])
        for name in Set(before.keys).union(after.keys) where before[name] != after[name] {
            headers[HTTPField.Name(name)] = after[name]
        }
        let bringsBody = changed.httpBody != nil || changed.httpBodyStream != nil
        if changed.httpBody != original.httpBody || changed.httpBodyStream !== original.httpBodyStream {
            body = bringsBody ? imported.body : .none
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

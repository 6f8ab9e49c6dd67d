// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An interceptor that is a closure, one for each thing that an interceptor can do.
///
/// ```swift
/// environment.interceptors = [
///     .adapting { $0.headers["X-Request-ID"] = UUID().uuidString },
///     .intercepting { request, next in
///         if let known = table[request.url] { return known }
///         return try await next(request)
///     },
///     .transforming { $0.headers["X-Seen"] = "yes" },
///     .retrying { $0.response?.status == .locked && $0.attempts.count < 3 ? .retry(after: .seconds(1)) : .pass },
///     .signing { $0.headers["X-Signature"] = try key.signature(of: $0) },
/// ]
/// ```
public struct ClosureInterceptor: Interceptor {
    /// Changes a request before it is sent.
    public typealias Adapt = @Sendable (inout HTTPRequest, InterceptorContext) async throws -> Void
    /// Sends a request on, and returns the answer.
    public typealias Intercept =
        @Sendable (HTTPRequest, InterceptorContext, Next) async throws -> HTTPResponse<ResponseContent>
    /// Changes a response before it is judged.
    public typealias Transform = @Sendable (inout HTTPResponse<Data>, InterceptorContext) throws -> Void
    /// Says what to do about a failure.
    public typealias Retry = @Sendable (RequestError, InterceptorContext) async -> RetryDecision

    private let adaptation: Adapt?
    private let interception: Intercept?
    private let transformation: Transform?
    private let decision: Retry?

    /// Makes an interceptor of closures that are called as the methods of ``Interceptor`` are; nil does nothing.
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

    /// Has the closure change the request.
    ///
    /// - Throws: What the closure throws.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        try await adaptation?(&request, context)
    }

    /// Has the closure send the request.
    ///
    /// - Throws: What the closure throws.
    public func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let interception else { return try await next(request) }
        return try await interception(request, context, next)
    }

    /// Has the closure change the response.
    ///
    /// - Throws: What the closure throws.
    public func transform(_ response: inout HTTPResponse<Data>, context: InterceptorContext) throws {
        try transformation?(&response, context)
    }

    /// Has the closure decide.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        await decision?(error, context) ?? .pass
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Changes every request in a closure, before every attempt that isn't a redirect.
    ///
    /// What the closure throws is the failure of the operation.
    public static func adapting(
        _ change: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, _ in try await change(&request) })
    }

    /// Sends every request in a closure, which may answer it without `next`, or send another one.
    public static func intercepting(
        _ intercept: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse<ResponseContent>
    ) -> ClosureInterceptor {
        ClosureInterceptor(intercept: { request, _, next in try await intercept(request, next) })
    }

    /// Changes every response in a closure, before it is judged.
    ///
    /// What the closure throws is the failure of the request.
    public static func transforming(
        _ change: @escaping @Sendable (inout HTTPResponse<Data>) throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(transform: { response, _ in try change(&response) })
    }

    /// Decides about every failure in a closure; `pass` leaves that to the next interceptor, and at last to the retry
    /// policy.
    ///
    /// Nothing limits how often the closure has a request sent again; the error's attempts tell how often it was.
    public static func retrying(
        _ decide: @escaping @Sendable (RequestError) async -> RetryDecision
    ) -> ClosureInterceptor {
        ClosureInterceptor(retry: { error, _ in await decide(error) })
    }

    /// Signs every request to the origin of the base URL, in a closure; where there is no base URL, every request.
    ///
    /// The closure sees the request as it will be sent, if this is the last interceptor. Header fields that it changes
    /// are secrets from then on: no description shows them, and no other origin receives them.
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

    /// Changes every request as Foundation's `URLRequest`: for code that knows only that.
    ///
    /// Every property that the closure changes is taken over, and nothing else: repeated and ordered header fields, a file
    /// as body, and whatever else a `URLRequest` can't carry stay as they are. A body that is a file or a stream isn't
    /// shown. Its `timeoutInterval` is at first the timeout that holds for the request, also where that is the environment's.
    /// What can't go on the wire is an error of code `invalidRequest`.
    public static func modifyingURLRequest(
        _ modify: @escaping @Sendable (inout URLRequest) async throws -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            // The address that is shown is whole, so that what is made of it takes the place of the whole.
            try request.resolve(baseURL: context.baseURL, inheriting: [])
            var original = URLRequest(withoutStreamsOf: request)
            // What holds if the closure doesn't touch it; Foundation's 60 seconds would look unchanged where they aren't.
            if let timeout = request.timeout ?? context.source.timeout {
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
        if changed.url != original.url { url = imported.url }
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
        template = imported.template
    }
}

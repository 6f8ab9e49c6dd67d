// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Changes requests on their way out and responses on their way in, sends them, and decides about retries.
///
/// ```swift
/// struct Signature: Interceptor {
///     let key: SigningKey
///     func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
///         request.headers["X-Signature"] = try key.signature(of: request)
///     }
/// }
/// environment.interceptors.append(Signature(key: key))
/// ```
///
/// Interceptors run in their order, once for the first try and once for every retry; redirects are followed behind them.
/// They may be called from several operations at once. When an operation is cancelled, the task that an interceptor runs
/// in is cancelled too; what it returns after that isn't used.
public protocol Interceptor: Sendable {
    /// Changes a request before it is sent; leaves it as it is by default.
    ///
    /// Whoever changes the origin of the address, scheme, host or port, leaves secrets behind: those of the environment
    /// and of the interceptors before, as far as they stand there unchanged. Those of the request itself go along.
    ///
    /// - Throws: What keeps the request from being sent. It becomes the failure of the operation.
    func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws

    /// Sends a request on, and returns the answer; by default it does just that.
    ///
    /// This is the way to do something around a request: to answer it without sending, to send it somewhere else, twice,
    /// or several times at once, to time it, or to look at the head of its answer before the content arrives.
    ///
    /// ```swift
    /// func intercept(
    ///     _ request: HTTPRequest, context: InterceptorContext, next: Next
    /// ) async throws -> HTTPResponse<ResponseContent> {
    ///     if let known = table[request.url] { return known }
    ///     return try await next(request)
    /// }
    /// ```
    ///
    /// Interceptors are nested, the first one outermost. Behind the last one are the library's own links: redirects,
    /// cookies, the cache, limits, and at last the transport. A status that isn't 2xx is an answer here, not an error;
    /// validators judge it afterwards.
    ///
    /// The content of a download or a stream is delivered as it arrives, and isn't in the answer. An interceptor that
    /// answers such a request by itself returns the content, which is then delivered for it.
    ///
    /// - Throws: What keeps the answer from arriving. A ``RequestError`` may be followed by a retry, any other error is the
    ///   failure of the operation.
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent>

    /// Changes a response before it is judged; leaves it as it is by default.
    ///
    /// Called for the response that the redirects led to, whatever its status, on a thread where it may take its time.
    /// The content of a download or a stream, which isn't in memory, isn't to be changed: it isn't called for that.
    ///
    /// - Throws: The failure of the request.
    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorContext) throws

    /// Says what to do about a failure; nothing by default, which leaves the decision to the next interceptor.
    ///
    /// Asked for failed transfers and for unacceptable responses; not for requests that can't be built, for redirects
    /// that can't be followed, for cancellation, or for content that can't be decoded. The first decision that isn't
    /// ``RetryDecision/pass`` counts; where all pass, the ``RetryPolicy`` of the request or the environment decides.
    ///
    /// What is decided about is the request that would be sent again, ``InterceptorContext/request``, whatever redirects
    /// it went through; the error's request is the one that was sent last. A body that can't be sent again isn't: then the
    /// failure stands, with an error of code `bodyNotReplayable` as its underlying error.
    ///
    /// Nothing limits what an interceptor asks for: look at ``InterceptorContext/attempt``, or give the operation a
    /// deadline.
    func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision
}

extension Interceptor {
    /// Leaves the request as it is.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {}

    /// Sends the request on.
    public func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        try await next(request)
    }

    /// Leaves the response as it is.
    public func transform(_ response: inout HTTPResponse<Data>, context: InterceptorContext) throws {}

    /// Leaves the decision to the next interceptor, and at last to the retry policy.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision { .pass }
}

/// An interceptor that answers a rejection with another credential.
protocol ChallengeAnswering: Interceptor {
    /// Decides about a request that was rejected, at the hop that met the rejection.
    func answer(_ error: RequestError, context: InterceptorContext) async -> RetryDecision
}

/// An interceptor that answers challenges where they are met: at one address, which redirects may have led to.
protocol HopAuthenticating: Interceptor {
    /// Sends a request, with what is known about its address, and once more if it is challenged.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - position: The position of the interceptor among all.
    ///   - context: The context of the operation.
    ///   - send: Sends a request further on; with a cause, if it isn't the first time.
    /// - Returns: The last answer.
    /// - Throws: What `send` throws.
    func authenticate(
        _ request: HTTPRequest,
        at position: Int,
        context: InterceptorContext,
        send: (HTTPRequest, Attempt.Cause?) async throws -> HTTPResponse<ResponseContent>
    ) async throws -> HTTPResponse<ResponseContent>
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Changes requests before they are sent and responses after they arrive, sends requests, and decides about retries.
///
/// ```swift
/// struct Signature: Interceptor {
///     let key: SigningKey
///     func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
///         request.headers["X-Signature"] = try key.signature(of: request)
///     }
/// }
/// environment.interceptors.append(Signature(key: key))
/// ```
///
/// Interceptors run in their order, once for the first attempt and once for every retry; redirects are followed behind
/// them. They may be called from several operations at once. When an operation is cancelled, the task of an interceptor
/// is cancelled too; its result is then ignored.
public protocol Interceptor: Sendable {
    /// Changes a request before it is sent; does nothing by default.
    ///
    /// If it changes the origin of the address (scheme, host or port), secrets are removed: those of the environment
    /// and of earlier interceptors, unless they were changed. Those of the request itself stay.
    ///
    /// - Throws: An error that keeps the request from being sent. It becomes the failure of the operation.
    func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws

    /// Sends a request on, and returns the answer; by default it only does that.
    ///
    /// Implement it to do something around a request: to answer it without sending, to send it somewhere else, twice,
    /// or several times at once, to measure it, or to inspect the head of its answer before the content arrives.
    ///
    /// ```swift
    /// func intercept(
    ///     _ request: HTTPRequest, context: InterceptorChain.Context, next: InterceptorChain
    /// ) async throws -> HTTPResponse<ResponseContent> {
    ///     if let known = table[request.url] { return known }
    ///     return try await next(request)
    /// }
    /// ```
    ///
    /// Interceptors are nested, the first one outermost. After the last one come the built-in interceptors: redirects,
    /// cookies, the cache, limits, and at last the transport. A status that isn't 2xx is an answer here, not an error;
    /// validators judge it afterwards.
    ///
    /// The content of a download or a stream is delivered as it arrives, and isn't in the answer. An interceptor that
    /// answers such a request itself returns the content, which is then delivered for it.
    ///
    /// - Throws: An error that keeps the answer from arriving. A ``RequestError`` may be followed by a retry, any other
    ///   error is the failure of the operation.
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> HTTPResponse<ResponseContent>

    /// Changes a response before it is judged; does nothing by default.
    ///
    /// Called for the final response after redirects, whatever its status, on a thread that may be blocked. It isn't
    /// called for the content of a download or a stream, which isn't in memory.
    ///
    /// - Throws: The failure of the request.
    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws

    /// Decides about a failure; by default it leaves the decision to the next interceptor.
    ///
    /// Called for failed transfers and for unacceptable responses; not for requests that can't be built, for redirects
    /// that can't be followed, for cancellation, or for content that can't be decoded. The first decision that isn't
    /// ``RetryPolicy/Decision/pass`` counts; if all pass, the ``RetryPolicy`` of the request or the environment decides.
    ///
    /// The decision concerns the request that would be sent again, ``InterceptorChain/Context/request``, whatever redirects
    /// it went through; the error's request is the one that was sent last. If its body can't be sent again, there is no
    /// retry: the failure stays, with an error of code `bodyNotReplayable` as its underlying error.
    ///
    /// An interceptor's retries aren't limited: check ``InterceptorChain/Context/attempt``, or give the operation a deadline.
    func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision
}

extension Interceptor {
    /// Leaves the request unchanged.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        context.markDefaultImplementation()
    }

    /// Sends the request on.
    public func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> HTTPResponse<ResponseContent> {
        context.markDefaultImplementation()
        return try await next(request)
    }

    /// Leaves the response unchanged.
    public func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {}

    /// Leaves the decision to the next interceptor, and finally to the retry policy.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision { .pass }
}

/// An interceptor with its position among all, which identifies it if it is a value.
struct PlacedInterceptor: Sendable {
    let interceptor: any Interceptor
    let position: Int
}

/// An interceptor that answers a rejection with another credential.
protocol RejectionHandling: Interceptor {
    /// Decides about a request that was rejected, at the hop that met the rejection.
    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision
}

/// An interceptor that answers challenges at the address where they occur, which redirects may have led to.
protocol HopAuthenticating: Interceptor {
    /// Sends a request, with the known credentials for its address, and once more if it is challenged.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context of the operation.
    ///   - proxy: Returns the route to the proxy of the transport; `nil` if credentials can't be sent to one.
    ///   - send: Sends a request on; with a cause, if it isn't the first time.
    /// - Returns: The last answer.
    /// - Throws: Any error that `send` throws.
    func authenticate(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        proxy: () -> ProxyRoute?,
        send: (HTTPRequest, TransferRecord.Cause?) async throws -> RawResponse
    ) async throws -> RawResponse
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that can modify requests, send them, modify their responses, and decide about retries.
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
/// Interceptors run in the order of the list, once for each attempt. Redirects are followed after the interceptors, so
/// the interceptors don't run again for a redirect. Several operations may call an interceptor simultaneously. When an
/// operation is cancelled, the task of its interceptor is also cancelled, and the result is ignored.
public protocol Interceptor: Sendable {
    /// Modifies a request before it is sent; does nothing by default.
    ///
    /// If this method changes the origin of the URL (scheme, host or port), secrets of the environment and of earlier
    /// interceptors are removed, unless this method has changed them. Secrets of the request itself are kept.
    ///
    /// - Throws: An error that keeps the request from being sent. The operation fails with this error.
    func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws

    /// Sends a request, and returns the response; by default, passes the request on unchanged.
    ///
    /// Implement this method to wrap a request: to return a response without sending it, to send it to another server
    /// or several times, to measure it, or to inspect the response head before the content arrives.
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
    /// Interceptors are nested, with the first one outermost. After the last one come the built-in interceptors for
    /// redirects, cookies, the cache and limits, and finally the transport. A status outside of 2xx isn't an error
    /// here; validators check it afterward.
    ///
    /// The content of a download or a stream is delivered as it arrives, and isn't part of the response. If an
    /// interceptor returns its own response to such a request, it returns the content too, which is then delivered to
    /// the caller.
    ///
    /// - Throws: An error that keeps the response from arriving. A ``RequestError`` may be followed by a retry; with
    ///   any other error, the operation fails.
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> HTTPResponse<ResponseContent>

    /// Modifies a response before it is validated; does nothing by default.
    ///
    /// This method is called for the final response after redirects, whatever its status, on a thread that you may
    /// block. It isn't called for the content of a download or a stream, because that isn't in memory.
    ///
    /// - Throws: An error that the request fails with.
    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws

    /// Decides whether to retry after a failure; by default, leaves the decision to the next interceptor.
    ///
    /// This method is called for failed transfers and for unacceptable responses. It isn't called for requests that
    /// can't be built, for redirects that can't be followed, for cancellation, or for content that can't be decoded.
    /// The first decision other than ``RetryPolicy/Decision/pass`` counts. If all interceptors pass, the
    /// ``RetryPolicy`` of the request or the environment decides.
    ///
    /// The decision concerns ``InterceptorChain/Context/request``, the request that would be sent again, as it was
    /// before redirects. The error's request is the one that was sent last. If the body can't be sent again, there is
    /// no retry. The operation then fails with the same error, whose underlying error has the code `bodyNotReplayable`.
    ///
    /// Retries by an interceptor aren't limited. Check ``InterceptorChain/Context/attempt``, or set a deadline for the
    /// operation.
    func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision
}

extension Interceptor {
    /// Leaves the request unchanged.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        context.markDefaultImplementation()
    }

    /// Sends the request through the rest of the chain.
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

/// An interceptor and its position in the list, which identifies interceptors that are values.
struct PlacedInterceptor: Sendable {
    let interceptor: any Interceptor
    let position: Int
}

/// An interceptor that replaces a rejected credential.
protocol RejectionHandling: Interceptor {
    /// Decides whether to send a request again after a rejection, including one by the target of a redirect.
    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision
}

/// An interceptor that answers challenges for each URL of a request, including the targets of redirects.
protocol HopAuthenticating: Interceptor {
    /// Sends a request with any stored credentials for its URL, and sends it again with credentials after a challenge.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context of the operation.
    ///   - proxy: Returns the route to the transport's proxy; `nil` if credentials can't be sent to one.
    ///   - send: Sends a request. The second argument is the cause of the transfer; `nil` for the first transfer.
    /// - Returns: The last response.
    /// - Throws: Any error that `send` throws.
    func authenticate(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        proxy: () -> ProxyRoute?,
        send: (HTTPRequest, TransferRecord.Cause?) async throws -> RawResponse
    ) async throws -> RawResponse
}

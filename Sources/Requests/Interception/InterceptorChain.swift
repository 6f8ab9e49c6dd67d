// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rest of the chain after an interceptor, which sends a request on, and returns its response.
///
/// An interceptor may call the chain once, never, or several times, even concurrently. Each call sends the request: the
/// operation's transfers and monitors show one more, but it doesn't count towards a retry limit. After the interceptor
/// has returned, or the operation has its result, a call sends nothing and throws an error of code `cancelled`.
///
/// A status that isn't 2xx is a response, not an error.
public struct InterceptorChain: Sendable {
    /// The interceptors of the whole chain, outermost first; the last one is the transport.
    private let interceptors: [any Interceptor]
    private let run: any InterceptedRun
    /// The closures that are called with the heads of responses, innermost first.
    private(set) var heads: HeadObserver?
    /// Checks the requests that a caller's interceptor sends; `nil` for built-in interceptors.
    private var requestChecker: (any Interceptor & AnyObject)?
    // Small, because each interceptor of a waiting request has a chain in its frame.
    private let attempt: Int32
    /// The number of interceptors that a request has passed.
    private var passed: UInt16 = 0
    /// The cause of requests that are sent from here.
    private(set) var cause: TransferRecord.Cause

    /// Creates the end of a chain, for tests of an interceptor.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>) {
        self.init([LastInterceptor(send: send)], of: StubRun(), attempt: 1, because: .initial)
    }

    /// Creates the beginning of a chain.
    init(
        _ interceptors: [any Interceptor],
        of run: any InterceptedRun,
        attempt: Int,
        because cause: TransferRecord.Cause
    ) {
        (self.interceptors, self.run, self.cause) = (interceptors, run, cause)
        self.attempt = Int32(clamping: attempt)
    }

    /// The interceptors that a request passes from here on.
    var remaining: ArraySlice<any Interceptor> { interceptors[Int(passed)...] }

    // Every response returns through this function several times, so it keeps as little state as possible.
    /// Sends a request through the rest of the chain.
    ///
    /// - Parameters:
    ///   - request: The request, which may differ from the one that the interceptor got.
    ///   - onHead: Called with the head of each response that arrives, before its content, on a thread that must not be
    ///     blocked. The content may still fail to arrive.
    /// - Returns: The response, when its content is complete.
    /// - Throws: An error that keeps the response from arriving: one of the transport or of another interceptor, or one
    ///   of code `cancelled`. A status that isn't 2xx is no error.
    public func callAsFunction(
        _ request: HTTPRequest,
        onHead: (@Sendable (HTTPResponseHead) -> Void)? = nil
    ) async throws -> HTTPResponse<ResponseContent> {
        let (interceptor, rest) = advanced(observedBy: onHead)
        return try await interceptor.intercept(request, context: context, next: rest)
    }

    /// Returns the next interceptor, and the rest of the chain after it.
    @inline(never)
    private func advanced(
        observedBy onHead: (@Sendable (HTTPResponseHead) -> Void)?
    ) -> (interceptor: any Interceptor, rest: InterceptorChain) {
        var rest = self
        if let onHead { rest.heads = HeadObserver(onHead, before: heads) }
        if let requestChecker {
            rest.requestChecker = nil
            return (requestChecker, rest)
        }
        rest.passed += 1
        return (interceptors[Int(passed)], rest)
    }

    private var context: InterceptorChain.Context { InterceptorChain.Context(run, attempt: Int(attempt)) }

    /// Returns the same chain, for requests with another cause.
    func because(_ cause: TransferRecord.Cause) -> InterceptorChain {
        var chain = self
        chain.cause = cause
        return chain
    }

    /// Returns the same chain, with one more closure that is called with the heads of responses.
    func observed(by body: @escaping @Sendable (HTTPResponseHead) -> Void) -> InterceptorChain {
        var chain = self
        chain.heads = HeadObserver(body, before: heads)
        return chain
    }

    /// Returns the same chain for a caller's interceptor, whose requests must pass another interceptor first.
    func checked(by requestChecker: any Interceptor & AnyObject) -> InterceptorChain {
        var chain = self
        chain.requestChecker = requestChecker
        return chain
    }
}

/// The end of a chain that was created for a test.
private struct LastInterceptor: Interceptor {
    let send: @Sendable (HTTPRequest) async throws -> RawResponse

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let response = try await send(request)
        next.headObserver?.report(response.head)
        return response
    }
}

/// A list of closures that are called with the head of a response.
final class HeadObserver: Sendable {
    private let body: @Sendable (HTTPResponseHead) -> Void
    private let outer: HeadObserver?

    init(_ body: @escaping @Sendable (HTTPResponseHead) -> Void, before outer: HeadObserver?) {
        self.body = body
        self.outer = outer
    }

    func report(_ head: HTTPResponseHead) {
        body(head)
        outer?.report(head)
    }
}

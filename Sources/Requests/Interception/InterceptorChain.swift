// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rest of the chain after an interceptor, called like a function that sends a request and returns its response.
///
/// An interceptor may call the chain once, never, or several times, even concurrently. Each call sends the request, and
/// counts as another transfer of the operation. Monitors see this transfer, but it doesn't count toward a retry limit.
/// After the interceptor has returned, or once the operation has its result, a call sends nothing and throws an error
/// with the code `cancelled`.
///
/// A status outside of 2xx is a response, not an error.
public struct InterceptorChain: Sendable {
    /// All interceptors of the chain, outermost first; the last one is the transport.
    private let interceptors: [any Interceptor]
    private let run: any InterceptedRun
    /// The closures that receive the heads of responses, innermost first.
    private(set) var headObserver: HeadObserver?
    /// The interceptor that checks requests from a user-defined interceptor; `nil` for built-in interceptors.
    private var requestChecker: (any Interceptor & AnyObject)?
    // Keep this type small, because each interceptor of a waiting request has a chain in its stack frame.
    private let attempt: Int32
    /// The number of interceptors that a request has already passed.
    private var passedCount: UInt16 = 0
    /// The cause of the transfers that this chain starts.
    private(set) var cause: TransferRecord.Cause

    /// Creates the end of a chain, to test an interceptor.
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

    /// The interceptors that a request still has to pass.
    var remaining: ArraySlice<any Interceptor> { interceptors[Int(passedCount)...] }

    // Keep as little state as possible in this function, because each response passes through it several times.
    /// Sends a request through the rest of the chain.
    ///
    /// - Parameters:
    ///   - request: The request, which may differ from the one that the interceptor received.
    ///   - onHead: Called with the head of each response before its content arrives, on a thread that you must not
    ///     block. The content may still fail to arrive.
    /// - Returns: The response, once its content is complete.
    /// - Throws: An error of the transport or of another interceptor that keeps the response from arriving, or an error
    ///   with the code `cancelled`. A status outside of 2xx isn't an error.
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
        if let onHead { rest.headObserver = HeadObserver(onHead, before: headObserver) }
        if let requestChecker {
            rest.requestChecker = nil
            return (requestChecker, rest)
        }
        rest.passedCount += 1
        return (interceptors[Int(passedCount)], rest)
    }

    private var context: InterceptorChain.Context { InterceptorChain.Context(run, attempt: Int(attempt)) }

    /// Returns a copy of the chain that starts transfers with another cause.
    func withCause(_ cause: TransferRecord.Cause) -> InterceptorChain {
        var chain = self
        chain.cause = cause
        return chain
    }

    /// Returns a copy of the chain with an additional closure that receives the heads of responses.
    func observed(by body: @escaping @Sendable (HTTPResponseHead) -> Void) -> InterceptorChain {
        var chain = self
        chain.headObserver = HeadObserver(body, before: headObserver)
        return chain
    }

    /// Returns a copy of the chain for a user-defined interceptor, whose requests must first pass `requestChecker`.
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

/// A linked list of closures that receive the head of a response.
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

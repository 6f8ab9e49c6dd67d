// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rest of the chain behind an interceptor, which sends a request on, and returns its answer.
///
/// It may be called never, once, or several times, also concurrently, while its interceptor runs. Each call sends the
/// request: the operation's attempts and monitors show one more transfer, but it doesn't count towards a retry limit.
/// After the interceptor has returned, and after the operation has its result, it throws an error of code `cancelled`,
/// and nothing is sent.
///
/// A status that isn't 2xx is an answer, not an error.
public struct Next: Sendable {
    private let run: any InterceptedRun
    /// The number of links before it.
    private(set) var index = 0
    /// The cause of requests that are sent from here.
    private(set) var cause: TransferRecord.Cause
    /// The closures that are called with the heads of responses, innermost first.
    private(set) var heads: HeadObserver?
    /// The run of the interceptor that may send from here; `nil` for the library's own links, which keep the rules.
    private(set) var permit: SendingPermit?

    /// Makes the end of a chain, for tests of an interceptor.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>) {
        let run = ClosureRun { request, next in
            let response = try await send(request)
            next.heads?.report(response.head)
            return response
        }
        self.init(run, because: .initial)
    }

    /// Makes the beginning of a chain.
    init(_ run: any InterceptedRun, because cause: TransferRecord.Cause, heads: HeadObserver? = nil) {
        self.run = run
        self.cause = cause
        self.heads = heads
    }

    /// Sends a request through the rest of the chain.
    ///
    /// - Parameters:
    ///   - request: The request, which may differ from the one that the interceptor got.
    ///   - onHead: Called with the head of each response that arrives, before its content, on a thread that must not be
    ///     blocked; also if the content then fails to arrive.
    /// - Returns: The answer, when its content is complete.
    /// - Throws: An error that keeps the answer from arriving: one of the transport or of another interceptor, or one
    ///   of code `cancelled`. A status that isn't 2xx is no error.
    public func callAsFunction(
        _ request: HTTPRequest,
        onHead: (@Sendable (HTTPResponseHead) -> Void)? = nil
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let onHead else { return try await run.send(request, from: self) }
        return try await run.send(request, from: observed(by: onHead))
    }

    /// Returns the same, for requests with another cause.
    func because(_ cause: TransferRecord.Cause) -> Next {
        var next = self
        next.cause = cause
        return next
    }

    /// Returns the same, with one more closure that is called with the heads of responses.
    func observed(by body: @escaping @Sendable (HTTPResponseHead) -> Void) -> Next {
        var next = self
        next.heads = HeadObserver(body, before: heads)
        return next
    }

    /// Returns the position behind a number of links, with a permission to send that ends with an interceptor's run.
    func at(_ index: Int, permit: SendingPermit? = nil) -> Next {
        var next = self
        (next.index, next.permit) = (index, permit)
        return next
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

/// The permission of one run of an interceptor to send, which ends with that run.
final class SendingPermit: Sendable {
    private let given: HTTPRequest
    private let isOver = Locked(false)

    /// - Parameter given: The request that the interceptor got.
    init(for given: HTTPRequest) {
        self.given = given
    }

    /// Ends the permission.
    func end() {
        isOver.withLock { $0 = true }
    }

    /// Returns the request that the interceptor got, if it may still send.
    func use() throws -> HTTPRequest {
        guard isOver.withLock({ $0 }) else { return given }
        throw RequestError(.cancelled, phase: .sending, reason: "the interceptor that got `next` has returned")
    }
}

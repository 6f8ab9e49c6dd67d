// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rest of the chain behind an interceptor: what sends a request further on, and returns its answer.
///
/// It may be called never, once, several times one after the other, or several times at once, as long as the
/// interceptor that got it runs. Each call sends the request: there is one more transfer in the operation's attempts and
/// for its monitors, but no further attempt that counts towards a retry limit. After the interceptor has returned, and
/// after the operation has its result, it throws an error of code `cancelled`, and nothing is sent.
///
/// A status that isn't 2xx is an answer, not an error.
public struct Next: Sendable {
    private let runner: any ChainRunner
    private let place: ChainPlace

    /// Makes the end of a chain, for tests of an interceptor.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>) {
        self.init(ClosureRunner(send), ChainPlace(cause: .initial))
    }

    init(_ runner: any ChainRunner, _ place: ChainPlace) {
        self.runner = runner
        self.place = place
    }

    /// Sends a request through the rest of the chain.
    ///
    /// - Parameters:
    ///   - request: The request, which need not be the one that the interceptor got.
    ///   - onHead: Called with the head of each response that arrives, before its content, on a thread that must not be
    ///     blocked; also if the content then fails to arrive.
    /// - Returns: The answer, when its content is complete.
    /// - Throws: What keeps the answer from arriving: an error of the transport or of another interceptor, or one of
    ///   code `cancelled`. A status that isn't 2xx is no error.
    public func callAsFunction(
        _ request: HTTPRequest,
        onHead: (@Sendable (HTTPResponseHead) -> Void)? = nil
    ) async throws -> HTTPResponse<ResponseContent> {
        try await runner.send(request, from: onHead.map(place.observed(by:)) ?? place)
    }

    /// The same, for requests that are sent for another reason than those before.
    func because(_ cause: Attempt.Cause) -> Next {
        var place = place
        place.cause = cause
        return Next(runner, place)
    }

    /// The same place in a chain, for another call: what the one before observes, it doesn't.
    func carried(by runner: any ChainRunner) -> Next {
        guard !(self.runner is ClosureRunner) else { return self }
        var place = place
        place.heads = nil
        return Next(runner, place)
    }

    /// The same place, with one more closure that is called with the heads of responses.
    func observed(by body: @escaping @Sendable (HTTPResponseHead) -> Void) -> Next {
        Next(runner, place.observed(by: body))
    }

    /// The same place, for what may send only as long as an interceptor runs.
    func permitted(by permit: SendingPermit) -> Next {
        var place = place
        place.permit = permit
        return Next(runner, place)
    }

    /// Why requests are sent from here.
    var cause: Attempt.Cause { place.cause }

    /// What is called with the heads of responses.
    var heads: HeadObserver? { place.heads }
}

/// The end of a chain, in a test of an interceptor.
private final class ClosureRunner: ChainRunner {
    private let send: @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>

    init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>) {
        self.send = send
    }

    func send(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent> {
        let response = try await send(request)
        place.heads?.report(response.head)
        return response
    }
}

/// What carries requests through a chain.
protocol ChainRunner: AnyObject, Sendable {
    func send(_ request: HTTPRequest, from place: ChainPlace) async throws -> HTTPResponse<ResponseContent>
}

/// A place in a chain, and what is known there.
struct ChainPlace: Sendable {
    /// The number of links before it.
    var index = 0
    /// Why requests are sent from here.
    var cause: Attempt.Cause
    /// What is called with the heads of responses, innermost first.
    var heads: HeadObserver?
    /// The run of the interceptor that may send from here; nil for the library's own links, which keep to the rules.
    var permit: SendingPermit?

    /// The same place, with one more closure that is called with the heads of responses.
    func observed(by body: @escaping @Sendable (HTTPResponseHead) -> Void) -> ChainPlace {
        var place = self
        place.heads = HeadObserver(body, before: heads)
        return place
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

    /// Takes the permission back.
    func end() {
        isOver.withLock { $0 = true }
    }

    /// Returns the request that the interceptor got, as long as it may send another.
    func use() throws -> HTTPRequest {
        guard isOver.withLock({ $0 }) else { return given }
        throw RequestError(.cancelled, phase: .sending, reason: "the interceptor that got `next` has returned")
    }
}

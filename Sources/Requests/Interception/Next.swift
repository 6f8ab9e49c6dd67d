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
    private enum Kind: Sendable {
        case chain(any ChainRunner, ChainPlace)
        case closure(@Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>)
    }

    private let kind: Kind

    /// Makes the end of a chain, for tests of an interceptor.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<ResponseContent>) {
        kind = .closure(send)
    }

    init(_ runner: any ChainRunner, _ place: ChainPlace) {
        kind = .chain(runner, place)
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
        switch kind {
        case .chain(let runner, var place):
            if let onHead { place.heads = HeadObserver(onHead, before: place.heads) }
            return try await runner.send(request, from: place)
        case .closure(let send):
            let response = try await send(request)
            onHead?(response.head)
            return response
        }
    }

    /// The same, for requests that are sent for another reason than those before.
    func because(_ cause: Attempt.Cause) -> Next {
        guard case .chain(let runner, var place) = kind else { return self }
        place.cause = cause
        return Next(runner, place)
    }

    /// The same place in a chain, for another call: what the one before observes, it doesn't.
    func carried(by runner: any ChainRunner) -> Next {
        guard case .chain(_, var place) = kind else { return self }
        place.heads = nil
        return Next(runner, place)
    }

    /// Why requests are sent from here.
    var cause: Attempt.Cause {
        if case .chain(_, let place) = kind { place.cause } else { .initial }
    }

    /// What is called with the heads of responses.
    var heads: HeadObserver? {
        if case .chain(_, let place) = kind { place.heads } else { nil }
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One stub of an ``HTTPStubber``: what it is meant for, what it answers, and what it has answered.
///
/// Made by ``HTTPStubber/stub(_:)``, and told the rest in a chain:
///
/// ```swift
/// let login = stubber.stub(.method(.post), .path("/login"))
///     .called(times: 2)
///     .respond(with: .status(.serviceUnavailable), .json(token))
/// // … run what is tested
/// try stubber.verify()
/// login.requests[1].text
/// ```
///
/// A stub is passed over until `respond` says what it answers, and takes requests from that moment on. So where requests
/// are under way already, say `respond` last: nobody then meets a stub of which only a part has been said. Safe from any
/// thread.
public final class HTTPStub: Sendable, CustomStringConvertible {
    let conditions: [StubCondition]
    private let usage = Locked(StubUsage())

    init(_ conditions: [StubCondition]) {
        self.conditions = conditions
    }

    /// What the stub is meant for, such as `method GET, path /users`.
    public var description: String { conditions.summary }

    /// The requests that the stub has taken, in their order.
    public var requests: [StubbedRequest] { usage.withLock { $0.requests } }

    /// How many requests the stub has taken.
    public var callCount: Int { usage.withLock { $0.requests.count } }

    // MARK: What it answers

    /// Answers the first request with the first response, the second with the second, and so on; the last response is
    /// also that of all later requests.
    ///
    /// With no response at all, each is 200 without content.
    @discardableResult
    public func respond(with responses: StubResponse...) -> HTTPStub { respond(with: responses) }

    /// Answers the first request with the first response, and so on, as the form with separate arguments does.
    @discardableResult
    public func respond(with responses: [StubResponse]) -> HTTPStub {
        usage.withLock { usage in usage.responders = responses.map { .ready($0) } }
        return self
    }

    /// Lets a closure answer every request.
    ///
    /// - Parameter respond: Makes the response, with the request and its variables at hand. What it throws is the error
    ///   of the request. It may take its time, but no longer than the timeout of the request, which passes on the clock
    ///   of the stubber: then, and where the request is cancelled, the request ends without it, and its task is
    ///   cancelled.
    /// - Returns: The stub.
    @discardableResult
    public func respond(_ respond: @escaping @Sendable (StubbedRequest) async throws -> StubResponse) -> HTTPStub {
        usage.withLock { $0.responders = [.made(respond)] }
        return self
    }

    /// Answers one request only; later ones go to the stubs after this one.
    ///
    /// Said before `respond`, it holds for requests that are under way, too.
    @discardableResult
    public func once() -> HTTPStub { times(1) }

    /// Answers so many requests only; later ones go to the stubs after this one.
    ///
    /// Said before `respond`, it holds for requests that are under way, too.
    @discardableResult
    public func times(_ count: Int) -> HTTPStub {
        usage.withLock { $0.limit = count }
        return self
    }

    // MARK: What is expected

    /// Expects so many requests, by the time that ``HTTPStubber/verify()`` is called.
    @discardableResult
    public func called(times count: Int) -> HTTPStub {
        expect(StubUsage.Expectation(description: "\(count)") { $0 == count })
    }

    /// Expects a number of requests in a range, such as `1...`, by the time that ``HTTPStubber/verify()`` is called.
    @discardableResult
    public func called(times range: some RangeExpression<Int> & Sendable) -> HTTPStub {
        expect(StubUsage.Expectation(description: "\(range)") { range.contains($0) })
    }

    private func expect(_ expectation: StubUsage.Expectation) -> HTTPStub {
        usage.withLock { $0.expectation = expectation }
        return self
    }

    // MARK: What the stubber asks

    func claim(_ request: StubbedRequest) -> StubUsage.Claim {
        usage.withLock { $0.claim(request) }
    }

    var complaint: String? { usage.withLock { $0.complaint } }
}

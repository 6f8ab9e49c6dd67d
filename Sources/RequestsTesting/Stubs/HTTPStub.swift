// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A stub of an ``HTTPStubber``: its conditions, its responses, and the requests that it has received.
///
/// Create it with ``HTTPStubber/stub(_:file:line:)``, and configure it by chaining methods:
///
/// ```swift
/// let login = stubber.stub(.method(.post), .path("/login"))
///     .expectingCalls(2)
///     .respond(with: .status(.serviceUnavailable), .json(token))
/// // … run the code under test
/// try stubber.verify()
/// login.requests[1].text
/// ```
///
/// A stub is skipped until `respond` sets its responses, and receives requests from then on. If requests are already
/// running, call `respond` last, so that no request encounters a partly configured stub. A stub is thread-safe.
public final class HTTPStub: Sendable, CustomStringConvertible {
    let conditions: [StubCondition]
    private let callSite: CallSite
    private let usage = Locked(StubUsage())

    init(_ conditions: [StubCondition], at callSite: CallSite) {
        (self.conditions, self.callSite) = (conditions, callSite)
    }

    /// The conditions of the stub and its source location, such as `method GET, path /users (Tests/UserTests.swift:7)`.
    public var description: String { "\(conditions.summary.shortened(to: 200)) (\(callSite))" }

    /// The requests that the stub has received, in order.
    public var requests: [ReceivedRequest] { usage.withLock { $0.requests } }

    /// The number of requests that the stub has received.
    public var callCount: Int { usage.withLock { $0.requests.count } }

    // MARK: Responding

    /// Responds to the first request with the first response, to the second request with the second, and so on.
    ///
    /// The last response repeats. Without any responses, each request gets the status 200 without content.
    @discardableResult
    public func respond(with responses: StubResponse...) -> HTTPStub { respond(with: responses) }

    /// Responds to the first request with the first response, and so on, like the variadic overload.
    @discardableResult
    public func respond(with responses: [StubResponse]) -> HTTPStub {
        use(responses.map { .fixed($0) })
    }

    /// Responds to every request with a closure.
    ///
    /// - Parameter respond: Creates the response from the request and its variables. An error that it throws becomes
    ///   the error of the request. If the closure exceeds the timeout of the request, measured on the stubber's clock,
    ///   or if the request is cancelled, the request ends without a response, and the closure's task is cancelled.
    /// - Returns: The stub.
    @discardableResult
    public func respond(_ respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse) -> HTTPStub {
        use([.computed(respond)])
    }

    private func use(_ responders: [StubUsage.Responder]) -> HTTPStub {
        // Deallocate the previous responders outside the lock, because an object that they retain may use the stub in
        // `deinit`.
        var responders: [StubUsage.Responder]? = responders
        usage.withLock { swap(&$0.responders, &responders) }
        return self
    }

    /// Sends matching requests over the network, as if there were no stubber.
    ///
    /// ```swift
    /// stubber.stub(.host("images.example.com")).passThrough()
    /// ```
    @discardableResult
    public func passThrough() -> HTTPStub {
        usage.withLock { $0.passesThrough = true }
        return self
    }

    /// Limits the stub to `count` requests; later requests go to the stubs after it.
    ///
    /// If you call this method before `respond`, the limit also applies to requests that are already running.
    @discardableResult
    public func limited(to count: Int) -> HTTPStub {
        usage.withLock { $0.limit = count }
        return self
    }

    // MARK: Expecting

    /// Expects exactly `count` requests before ``HTTPStubber/verify(file:line:)`` is called.
    @discardableResult
    public func expectingCalls(_ count: Int) -> HTTPStub {
        usage.withLock { $0.expectation = ("\(count)", { $0 == count }) }
        return self
    }

    /// Expects a number of requests in a range, such as `1...`, before ``HTTPStubber/verify(file:line:)`` is called.
    @discardableResult
    public func expectingCalls(_ range: some RangeExpression<Int> & Sendable) -> HTTPStub {
        usage.withLock { $0.expectation = ("\(range)", { range.contains($0) }) }
        return self
    }

    // MARK: Used by the stubber

    var passesThrough: Bool { usage.withLock { $0.passesThrough } }

    /// Records a request that meets every condition, and returns its responder, unless the stub is exhausted or not set
    /// up yet.
    func claim(_ request: ReceivedRequest) -> StubUsage.Claim {
        // Conditions are test code, so they run outside the lock. Therefore, two requests may match a stub that
        // responds only once; `StubUsage` decides which of them gets the response.
        let (variables, mismatches) = conditions.evaluate(request)
        guard mismatches.isEmpty else { return .skipped(mismatches) }
        var request = request
        request.variables = variables
        return usage.withLock { [request] in $0.claim(request) }
    }

    /// The description of an unmet expectation; `nil` if the expectation is met, or there is none.
    var complaint: String? {
        usage.withLock { $0.complaint }.map { "\(callSite): the stub \(conditions.summary) \($0)" }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One stub of an ``HTTPStubber``: its conditions, its responses, and the requests that it has taken.
///
/// Make it with ``HTTPStubber/stub(_:file:line:)``, and configure it in a chain:
///
/// ```swift
/// let login = stubber.stub(.method(.post), .path("/login"))
///     .expectingCalls(2)
///     .respond(with: .status(.serviceUnavailable), .json(token))
/// // … run what is tested
/// try stubber.verify()
/// login.requests[1].text
/// ```
///
/// A stub is skipped until `respond` sets its responses, and takes requests from that moment on. If requests are under
/// way already, call `respond` last, so that no request meets a partly configured stub. Safe from any thread.
public final class HTTPStub: Sendable, CustomStringConvertible {
    let conditions: [StubCondition]
    private let callSite: CallSite
    private let usage = Locked(StubUsage())

    init(_ conditions: [StubCondition], at callSite: CallSite) {
        (self.conditions, self.callSite) = (conditions, callSite)
    }

    /// The conditions of the stub and its callSite in the test, such as
    /// `method GET, path /users (Tests/UserTests.swift:7)`.
    public var description: String { "\(conditions.summary.shortened(to: 200)) (\(callSite))" }

    /// The requests that the stub has taken, in their order.
    public var requests: [ReceivedRequest] { usage.withLock { $0.requests } }

    /// The number of requests that the stub has taken.
    public var callCount: Int { usage.withLock { $0.requests.count } }

    // MARK: Responding

    /// Responds to the first request with the first response, to the second with the second, and so on; the last
    /// response repeats.
    ///
    /// Without any response, each request gets 200 without content.
    @discardableResult
    public func respond(with responses: StubResponse...) -> HTTPStub { respond(with: responses) }

    /// Responds to the first request with the first response, and so on, like the form with separate arguments.
    @discardableResult
    public func respond(with responses: [StubResponse]) -> HTTPStub {
        use(responses.map { .fixed($0) })
    }

    /// Responds to every request with a closure.
    ///
    /// - Parameter respond: Makes the response from the request and its variables. An error that it throws becomes the
    ///   error of the request. It may take as long as the timeout of the request, which is measured on the stubber's
    ///   clock. After that, or if the request is cancelled, the request ends without it, and its task is cancelled.
    /// - Returns: The stub.
    @discardableResult
    public func respond(_ respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse) -> HTTPStub {
        use([.computed(respond)])
    }

    private func use(_ responders: [StubUsage.Responder]) -> HTTPStub {
        // The former ones are released outside of the lock: an object that they retain may use the stub in `deinit`.
        var responders: [StubUsage.Responder]? = responders
        usage.withLock { swap(&$0.responders, &responders) }
        return self
    }

    /// Sends the requests to the network, as if there were no stubber.
    ///
    /// ```swift
    /// stubber.stub(.host("images.example.com")).passThrough()
    /// ```
    @discardableResult
    public func passThrough() -> HTTPStub {
        usage.withLock { $0.passesThrough = true }
        return self
    }

    /// Responds to `count` requests only; later ones go to the stubs after this one.
    ///
    /// Called before `respond`, it also applies to requests that are under way.
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

    // MARK: For the stubber

    var passesThrough: Bool { usage.withLock { $0.passesThrough } }

    /// Takes a request that meets every condition, unless the stub has no response for it.
    func claim(_ request: ReceivedRequest) -> StubUsage.Claim {
        // Conditions are code of the test, so they run outside the lock. Two requests may therefore match a stub that
        // responds once; the usage decides which of them gets the response.
        let (variables, mismatches) = conditions.evaluate(request)
        guard mismatches.isEmpty else { return .skipped(mismatches) }
        var request = request
        request.variables = variables
        return usage.withLock { [request] in $0.claim(request) }
    }

    /// The unmet expectation in words; `nil` if it is met.
    var complaint: String? {
        usage.withLock { $0.complaint }.map { "\(callSite): the stub \(conditions.summary) \($0)" }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Adds a stub after the existing ones; it responds to the requests for which all of the conditions hold.
    ///
    /// - Parameters:
    ///   - conditions: The conditions; without any, the stub matches every request.
    ///   - file: The file of the stub, for the messages of failures.
    ///   - line: The line of the stub.
    /// - Returns: The stub, which is skipped until its responses are set.
    @discardableResult
    public func stub(_ conditions: StubCondition..., file: StaticString = #fileID, line: UInt = #line) -> HTTPStub {
        add(HTTPStub(conditions, at: CallSite(file, line)))
    }

    /// Adds a stub for a method and a URI template, optionally with a closure that responds.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The address, or what follows its origin, such as `/users/{id}`.
    ///   - conditions: Further conditions.
    ///   - file: The file of the stub, for the messages of failures.
    ///   - line: The line of the stub.
    ///   - respond: Makes the response, as in ``HTTPStub/respond(_:)``; `nil` by default.
    /// - Returns: The stub; without a closure, it is skipped until its responses are set.
    @discardableResult
    public func stub(
        _ method: HTTPMethod,
        _ template: URITemplate,
        _ conditions: StubCondition...,
        file: StaticString = #fileID,
        line: UInt = #line,
        respond: (@Sendable (ReceivedRequest) async throws -> StubResponse)? = nil
    ) -> HTTPStub {
        let stub = HTTPStub([.method(method), .template(template)] + conditions, at: CallSite(file, line))
        return add(respond.map { stub.respond($0) } ?? stub)
    }

    /// Removes a stub; does nothing if it was removed already.
    public func remove(_ stub: HTTPStub) {
        state.withLock { $0.stubs.removeAll { $0 === stub } }
    }

    /// Removes every stub.
    public func removeAllStubs() {
        // Released outside of the lock: an object that their closures retain may use the stubber in `deinit`.
        var stubs: [HTTPStub] = []
        state.withLock { swap(&$0.stubs, &stubs) }
    }

    /// The stubs, in the order in which they are tried.
    public var stubs: [HTTPStub] { state.withLock { $0.stubs } }

    /// The treatment of a request that no stub matches.
    public var unhandledMode: UnhandledMode {
        get { state.withLock { $0.unhandledMode } }
        set { state.withLock { $0.unhandledMode = newValue } }
    }

    // MARK: Requests so far

    /// All requests, answered or not, in the order in which their content was complete.
    public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The refused requests, which no stub matched.
    public var unhandledRequests: [UnhandledRequest] { state.withLock { $0.unhandled } }

    /// Checks that every stub was called as often as ``HTTPStub/expectingCalls(_:)-(Int)`` says, and that no request
    /// was refused.
    ///
    /// Call it at the end of a test: code that handles the error of a refused request hides it.
    ///
    /// - Parameters:
    ///   - file: The file of the check, for a refused request.
    ///   - line: The line of the check, for a refused request.
    /// - Throws: ``UnmetExpectations``, with a text for each.
    public func verify(file: StaticString = #fileID, line: UInt = #line) throws(UnmetExpectations) {
        let (stubs, unhandled) = state.withLock { ($0.stubs, $0.unhandled) }
        var complaints = stubs.compactMap(\.complaint)
        // A retried request is refused again, for the same reason.
        for text in unhandled.map({ "\(CallSite(file, line)): \($0)" }) where !complaints.contains(text) {
            complaints.append(text)
        }
        guard complaints.isEmpty else { throw UnmetExpectations(complaints: complaints) }
    }

    func add(_ stub: HTTPStub) -> HTTPStub {
        state.withLock { $0.stubs.append(stub) }
        return stub
    }
}

// MARK: - URLSession

extension HTTPStubber {
    /// Responds to the requests of the sessions that are made from the configuration.
    ///
    /// For code that takes a session, of any library. Other protocol classes of the configuration stay, after the
    /// stubber. The stubber must outlive the sessions' requests, which fail once it is deallocated.
    ///
    /// Cookies are kept and sent as the configuration says, and its `timeoutIntervalForRequest` is the maximum silence
    /// of a stub. Both are read now, so install the stubber last. Use an ephemeral configuration: the default one
    /// shares its cookies with the whole process, including other tests.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.ephemeral
    /// stubber.install(in: configuration)
    /// let session = URLSession(configuration: configuration)
    /// ```
    ///
    /// `URLProtocol` has limits that a transport doesn't have:
    ///
    /// | | consequence |
    /// |---|---|
    /// | requests that are let through | the stubber's network sends them, not the session, whose credentials and trust don't apply |
    /// | download tasks | on Linux they fail: Foundation would crash at their end |
    /// | upload tasks | on Linux their content isn't shown, see ``ReceivedRequest/isBodyHidden`` |
    /// | responses in pieces | on Linux all of it comes at once, when the last piece would |
    /// | redirects | on Linux the session doesn't follow them: the redirect is the response |
    /// | caches | no response is stored in the session's `URLCache`; a `ResponseCache` of a client keeps those of a transport |
    /// | challenges | on Linux a 401 comes without `WWW-Authenticate`, with which Foundation never completes the task |
    public func install(in configuration: URLSessionConfiguration) {
        let protocolClass = StubberRegistry.add(self, for: StubbedSession(configuration))
        configuration.protocolClasses = [protocolClass] + (configuration.protocolClasses ?? [])
    }

    /// Whether ``shared`` responds to the requests of `URLSession.shared`, from any caller; `false` by default.
    ///
    /// On Linux, set it before the first use of `URLSession.shared` in the process; otherwise that session never asks
    /// the stubber. Tests that set it can't run in parallel.
    public static var isEnabled: Bool {
        get { shared.state.withLock { $0.isEnabled } }
        set {
            shared.state.withLock { $0.isEnabled = newValue }
            // Once registered, the class stays: on Linux a session keeps its initial list.
            if newValue { _ = registration }
        }
    }

    private static let registration = URLProtocol.registerClass(StubProtocol.self)
}

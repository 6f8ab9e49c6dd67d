// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Adds a stub for requests that meet all conditions; existing stubs have priority.
    ///
    /// - Parameters:
    ///   - conditions: The conditions; without any, the stub matches every request.
    ///   - file: The file of the stub, for failure messages.
    ///   - line: The line of the stub, for failure messages.
    /// - Returns: The stub, which is skipped until its responses are set.
    @discardableResult
    public func stub(_ conditions: StubCondition..., file: StaticString = #fileID, line: UInt = #line) -> HTTPStub {
        add(HTTPStub(conditions, at: CallSite(file, line)))
    }

    /// Adds a stub for a method and a URI template, optionally with a closure that responds.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The template of the URL, or of the part after its origin, such as `/users/{id}`.
    ///   - conditions: Further conditions.
    ///   - file: The file of the stub, for failure messages.
    ///   - line: The line of the stub, for failure messages.
    ///   - respond: Creates the response, as in ``HTTPStub/respond(_:)``; `nil` by default.
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

    /// Removes a stub; does nothing if it was already removed.
    public func remove(_ stub: HTTPStub) {
        state.withLock { $0.stubs.removeAll { $0 === stub } }
    }

    /// Removes every stub.
    public func removeAllStubs() {
        // Deallocate the stubs outside the lock, because an object that their closures retain may use the stubber in
        // `deinit`.
        var stubs: [HTTPStub] = []
        state.withLock { swap(&$0.stubs, &stubs) }
    }

    /// The stubs, in the order in which they are tried.
    public var stubs: [HTTPStub] { state.withLock { $0.stubs } }

    /// How to handle a request that no stub matches.
    public var unhandledMode: UnhandledMode {
        get { state.withLock { $0.unhandledMode } }
        set { state.withLock { $0.unhandledMode = newValue } }
    }

    // MARK: Received requests

    /// All requests, including unmatched requests, in the order in which their content was completed.
    public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The rejected requests, which no stub matched.
    public var unhandledRequests: [UnhandledRequest] { state.withLock { $0.unhandled } }

    /// Checks that every stub was called as often as ``HTTPStub/expectingCalls(_:)-(Int)`` requires, and that no
    /// request was rejected.
    ///
    /// Call this method at the end of a test, because code that handles the error of a rejected request would hide it.
    ///
    /// - Parameters:
    ///   - file: The file of the check, reported for a rejected request.
    ///   - line: The line of the check, reported for a rejected request.
    /// - Throws: ``UnmetExpectations``, with a message for each violation.
    public func verify(file: StaticString = #fileID, line: UInt = #line) throws(UnmetExpectations) {
        let (stubs, unhandled) = state.withLock { ($0.stubs, $0.unhandled) }
        var complaints = stubs.compactMap(\.complaint)
        // A retried request is rejected again for the same reason, so report it only once.
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
    /// Responds to the requests of sessions that are created with the configuration.
    ///
    /// Use this method for code that accepts a session, including code in other libraries. Other protocol classes of
    /// the configuration are tried after the stubber. The stubber must outlive the sessions' requests, which fail after
    /// it is deallocated.
    ///
    /// Cookies are stored and sent as the configuration specifies, and its `timeoutIntervalForRequest` is the idle
    /// timeout of a stub. Both are read now, so install the stubber last. Use an ephemeral configuration, because the
    /// default configuration shares its cookies with the entire process, including other tests.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.ephemeral
    /// stubber.install(in: configuration)
    /// let session = URLSession(configuration: configuration)
    /// ```
    ///
    /// `URLProtocol` has limitations that a transport doesn't have:
    ///
    /// | | consequence |
    /// |---|---|
    /// | requests that are passed through | the stubber's network sends them, not the session, so the session's credentials and trust don't apply |
    /// | download tasks | fail on Linux, because Foundation would crash when they finish |
    /// | upload tasks | their content isn't available on Linux, see ``ReceivedRequest/isBodyHidden`` |
    /// | responses in fragments | arrive in one part on Linux, when the last fragment would |
    /// | redirects | aren't followed by the session on Linux: the redirect is the response |
    /// | caches | the session's `URLCache` stores nothing; the `ResponseCache` of a client stores responses of transports |
    /// | challenges | a 401 has no `WWW-Authenticate` on Linux, because Foundation would never complete the task |
    public func install(in configuration: URLSessionConfiguration) {
        let protocolClass = StubberRegistry.add(self, for: StubbedSessionSettings(configuration))
        configuration.protocolClasses = [protocolClass] + (configuration.protocolClasses ?? [])
    }

    /// Whether ``shared`` responds to the requests of `URLSession.shared`, from any caller; `false` by default.
    ///
    /// On Linux, set it before the process first uses `URLSession.shared`; otherwise, that session never uses the
    /// stubber. Tests that set it can't run in parallel.
    public static var isEnabled: Bool {
        get { shared.state.withLock { $0.isEnabled } }
        set {
            shared.state.withLock { $0.isEnabled = newValue }
            // The class is never unregistered, because on Linux, a session keeps the list of classes that it started
            // with.
            if newValue { _ = registration }
        }
    }

    private static let registration = URLProtocol.registerClass(StubProtocol.self)
}

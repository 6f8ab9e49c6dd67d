// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Adds a stub behind those that are there; it answers the requests for which all of the conditions hold.
    ///
    /// - Parameter conditions: What must hold; with none, the stub is meant for every request.
    /// - Returns: The stub, to be told what it answers: until then it is passed over.
    @discardableResult
    public func stub(_ conditions: StubCondition...) -> HTTPStub {
        add(HTTPStub(conditions))
    }

    /// Adds a stub of a method and a URI template.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The address, or what follows its origin, such as `/users/{id}`.
    ///   - conditions: What must hold besides.
    /// - Returns: The stub, to be told what it answers: until then it is passed over.
    @discardableResult
    public func stub(_ method: HTTPMethod, _ template: URITemplate, _ conditions: StubCondition...) -> HTTPStub {
        add(HTTPStub([.method(method), .template(template)] + conditions))
    }

    /// Adds a stub of a method and a URI template, which a closure answers.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The address, or what follows its origin, such as `/users/{id}`.
    ///   - conditions: What must hold besides.
    ///   - respond: Makes the response, as in ``HTTPStub/respond(_:)``.
    /// - Returns: The stub.
    @discardableResult
    public func stub(
        _ method: HTTPMethod,
        _ template: URITemplate,
        _ conditions: StubCondition...,
        respond: @escaping @Sendable (StubbedRequest) async throws -> StubResponse
    ) -> HTTPStub {
        add(HTTPStub([.method(method), .template(template)] + conditions).respond(respond))
    }

    /// Removes a stub; one that isn't there is none.
    public func remove(_ stub: HTTPStub) {
        state.withLock { $0.stubs.removeAll { $0 === stub } }
    }

    /// Removes every stub.
    public func removeAllStubs() {
        state.withLock { $0.stubs = [] }
    }

    /// The stubs, in the order in which they are asked.
    public var stubs: [HTTPStub] { state.withLock { $0.stubs } }

    // MARK: What isn't stubbed

    /// Lets requests go to the network for which all of the conditions hold, whatever stubs there are.
    ///
    /// - Parameter conditions: What must hold; with none, every request goes there.
    /// - Returns: The rule, by which it can be taken back.
    @discardableResult
    public func ignore(_ conditions: StubCondition...) -> IgnoreRule {
        let rule = IgnoreRule(conditions)
        state.withLock { $0.ignored.append(rule) }
        return rule
    }

    /// The rules of ``ignore(_:)``, in the order in which they were added.
    public var ignoreRules: [IgnoreRule] { state.withLock { $0.ignored } }

    /// Removes a rule of ``ignore(_:)``; one that isn't there is none.
    public func remove(_ rule: IgnoreRule) {
        state.withLock { $0.ignored.removeAll { $0 === rule } }
    }

    /// Removes every rule of ``ignore(_:)``.
    public func removeAllIgnoreRules() {
        state.withLock { $0.ignored = [] }
    }

    /// What happens to a request that no stub is meant for.
    public var unhandledMode: UnhandledMode {
        get { state.withLock { $0.unhandledMode } }
        set { state.withLock { $0.unhandledMode = newValue } }
    }

    // MARK: What was asked

    /// Every request that came, answered or not, in the order in which their content was complete.
    public var requests: [StubbedRequest] { state.withLock { $0.requests } }

    /// The requests that no stub was meant for, and that were refused.
    public var unhandledRequests: [UnhandledRequest] { state.withLock { $0.unhandled } }

    /// Checks that every stub has answered as often as `called(times:)` says.
    ///
    /// - Throws: ``UnmetExpectations``, with all that aren't as expected. That a request was refused isn't an error
    ///   here: it was one where it was made, and ``unhandledRequests`` has it.
    public func verify() throws(UnmetExpectations) {
        let complaints = stubs.compactMap { stub in stub.complaint.map { "stub \(stub): \($0)" } }
        guard complaints.isEmpty else { throw UnmetExpectations(complaints: complaints) }
    }

    func add(_ stub: HTTPStub) -> HTTPStub {
        state.withLock { $0.stubs.append(stub) }
        return stub
    }
}

// MARK: - URLSession

extension HTTPStubber {
    /// Answers the requests of the sessions that are made from the configuration.
    ///
    /// For code that takes a session, whichever library it belongs to. Other protocol classes of the configuration stay,
    /// behind the stubber. The stubber must outlive the sessions' requests: they fail once it is gone. Cookies are kept
    /// and sent as the configuration says, and its `timeoutIntervalForRequest` is how long a stub may be silent: install
    /// the stubber last, for it is asked now. Take an ephemeral configuration: the cookies of the default one are those
    /// of the whole process, and other tests would hear of them.
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
    /// | upload tasks | on Linux their content isn't shown, see ``StubbedRequest/isBodyHidden`` |
    /// | responses in pieces | on Linux all of it comes at once, when the last piece would |
    /// | redirects | on Linux the session doesn't follow them: the redirect is the response |
    /// | caches | no response is stored in the session's `URLCache`; a `ResponseCache` of a client keeps those of a transport |
    /// | challenges | on Linux a 401 comes without `WWW-Authenticate`, with which Foundation never completes the task |
    public func install(in configuration: URLSessionConfiguration) {
        let protocolClass = StubberRegistry.add(self, for: StubbedSession(configuration))
        configuration.protocolClasses = [protocolClass] + (configuration.protocolClasses ?? [])
    }

    /// Whether ``shared`` answers the requests of `URLSession.shared`, whoever makes them; false by default.
    ///
    /// On Linux it must be set before the first use of `URLSession.shared` in the process, which else never asks. Tests
    /// that set it can't run in parallel.
    public static var isEnabled: Bool {
        get { shared.state.withLock { $0.isEnabled } }
        set {
            shared.state.withLock { $0.isEnabled = newValue }
            // Once registered the class stays: on Linux a session keeps the list that it began with.
            if newValue { _ = registration }
        }
    }

    private static let registration = URLProtocol.registerClass(StubProtocol.self)
}

// MARK: - Ignore rule

extension HTTPStubber {
    /// A rule of an ``HTTPStubber``, by which requests go to the network.
    ///
    /// Made by ``HTTPStubber/ignore(_:)``; it is of use to whoever takes the rule back again.
    public final class IgnoreRule: Sendable, CustomStringConvertible {
        let conditions: [StubCondition]

        init(_ conditions: [StubCondition]) {
            self.conditions = conditions
        }

        /// What the rule lets through, such as `host cdn.example.com`.
        public var description: String { conditions.summary }
    }
}

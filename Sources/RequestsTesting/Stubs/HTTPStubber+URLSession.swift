// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The timeout and the cookies of a session that uses a stubber.
///
/// For real requests, Foundation's built-in protocol classes apply both. A custom protocol class, such as the
/// stubber's, must do so itself.
struct StubbedSessionSettings: Sendable {
    private let timeout: Duration
    private let cookies: FoundationCookieStorage?
    private let sendsCookies: Bool

    init(_ configuration: URLSessionConfiguration) {
        let seconds = configuration.timeoutIntervalForRequest
        timeout = seconds > 0 ? Duration(clampedSeconds: seconds) : Self.defaultTimeout
        cookies = FoundationCookieStorage(of: configuration)
        sendsCookies = configuration.httpShouldSetCookies
    }

    private init() {
        (timeout, cookies, sendsCookies) = (Self.defaultTimeout, FoundationCookieStorage(.shared), true)
    }

    /// The shared session of the process.
    static let shared = StubbedSessionSettings()

    private static let defaultTimeout = Duration.seconds(60)

    /// Returns the request that the session would send, with its cookies and its timeout.
    ///
    /// - Throws: `InvalidValue` if the request has no URL.
    func request(_ request: URLRequest) throws(InvalidValue) -> TransportRequest {
        var sent = try HTTPRequest(request)
        if sendsCookies, request.httpShouldHandleCookies, !sent.headers.contains(.cookie),
            let field = cookies?.field(for: sent.url)
        {
            sent.headers.add(field)
        }
        return TransportRequest(sent, timeout: timeout)
    }

    /// Stores the cookies of a response, as the session would.
    func storeCookies(of head: HTTPResponseHead, to request: URLRequest) {
        guard request.httpShouldHandleCookies, let url = request.url else { return }
        cookies?.store(head, from: url)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a session does besides, whose requests a stubber answers: it waits so long, and keeps cookies.
///
/// Both are the session's own on a network, where the protocols of Foundation see to them. A protocol class that isn't
/// Foundation's has to do so itself.
struct StubbedSession: Sendable {
    private let timeout: Duration
    private let cookies: FoundationCookieStorage?
    private let sendsCookies: Bool

    init(_ configuration: URLSessionConfiguration) {
        let seconds = configuration.timeoutIntervalForRequest
        timeout = seconds > 0 ? .seconds(min(seconds, 1e9)) : Self.defaultTimeout
        cookies = FoundationCookieStorage(of: configuration)
        sendsCookies = configuration.httpShouldSetCookies
    }

    private init() {
        (timeout, cookies, sendsCookies) = (Self.defaultTimeout, FoundationCookieStorage(.shared), true)
    }

    /// The session of the process.
    static let shared = StubbedSession()

    private static let defaultTimeout = Duration.seconds(60)

    /// The request as the session would send it, and a stubber takes it.
    ///
    /// - Throws: `InvalidRequest` where there is no address.
    func request(_ request: URLRequest) throws(InvalidRequest) -> TransportRequest {
        var sent = try HTTPRequest(request)
        if sendsCookies, request.httpShouldHandleCookies, !sent.headers.contains(.cookie),
            let field = cookies?.field(for: sent.url)
        {
            sent.headers.add(field)
        }
        return TransportRequest(sent, timeout: timeout)
    }

    /// Keeps the cookies of a response, as the session would.
    func keepCookies(of head: HTTPResponseHead, to request: URLRequest) {
        guard request.httpShouldHandleCookies, let url = request.url else { return }
        cookies?.store(head, from: url)
    }
}

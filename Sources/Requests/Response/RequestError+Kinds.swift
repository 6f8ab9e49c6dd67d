// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What the user is to be told, mostly: that there is no connection, or that a login is needed.
extension RequestError {
    /// Whether it was the connection that failed: there is no network, nobody answers, or not in time.
    ///
    /// True for the codes `offline`, `cannotConnect`, `connectionLost` and `timedOut`, also where that is why a condition
    /// didn't hold, or why a request failed that this one needed the result of. A peer that isn't trusted, or answers
    /// badly, was reached.
    public var isConnectivityError: Bool {
        switch code {
        case .offline, .cannotConnect, .connectionLost, .timedOut: true
        case .conditionFailed, .dependencyFailed: (underlying as? RequestError)?.isConnectivityError ?? false
        default: false
        }
    }

    /// Whether the server doesn't know who asks: it answered 401, or there is no credential to send.
    ///
    /// A refresh that failed for want of a connection isn't one: the credential may be good. Nor is a 403, which no login
    /// changes: there, the server knows who asks (RFC 9110, 15.5.2 and 15.5.4).
    public var isNotAuthorized: Bool {
        switch code {
        case .authenticationFailed: (underlying as? RequestError)?.isConnectivityError != true
        case .unacceptableStatus, .rejected: response?.status == .unauthorized
        case .dependencyFailed: (underlying as? RequestError)?.isNotAuthorized ?? false
        default: false
        }
    }
}

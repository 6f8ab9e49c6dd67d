// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A credential for sending a request.
struct CredentialGrant<Credential: Sendable>: Sendable {
    let credential: Credential
    /// The credential's generation, which is stored in the request.
    let generation: Int
    /// Whether the credential was fetched while the request waited, in which case a rejection doesn't mean that the
    /// credential has expired.
    let isFresh: Bool
}

/// The reason why a request doesn't get a credential.
enum CredentialRefusal: Error, Sendable {
    /// The refresh failed with this error.
    case failed(any Error)
    /// There were too many refreshes in the window. The associated error is the failure of the last refresh, if any.
    case excessive(RefreshClient.Window, after: (any Error)?)
    /// A logout removed the credential that the request had been sent with, or was waiting for.
    case loggedOut
    /// Waiting would cause a deadlock, because another refresh is already waiting for this one.
    case circular
    /// The request was cancelled.
    case cancelled

    /// The error of the request that doesn't get a credential.
    var error: any Error {
        switch self {
        case .failed(let error as RequestError) where error.code == .refreshTimedOut:
            error
        case .failed(let error):
            RequestError(.authenticationFailed, phase: .building, underlying: error)
        case .excessive(let window, let failure):
            RequestError(
                .excessiveRefresh,
                phase: .building,
                reason: "reached the limit of \(window.limit) refreshes within \(window.duration)",
                underlying: failure
            )
        case .loggedOut:
            RequestError(.authenticationFailed, phase: .building, reason: "the credential was removed in the meantime")
        case .circular:
            RequestError(.authenticationFailed, phase: .building, reason: "two refreshes would wait for each other")
        case .cancelled:
            CancellationError()
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A credential to send a request with.
struct CredentialGrant<Credential: Sendable>: Sendable {
    let credential: Credential
    /// Its number, which the request carries.
    let generation: Int
    /// Whether it was fetched while the request waited: if it is rejected, it isn't because of its age.
    let isFresh: Bool
}

/// The reason why a request gets no credential.
enum CredentialRefusal: Error, Sendable {
    /// The refresh failed, with this error.
    case failed(any Error)
    /// There were too many refreshes; the last one may have failed with an error.
    case excessive(RefreshClient.Window, after: (any Error)?)
    /// The credential was removed, by a logout, while the request had or awaited it.
    case loggedOut
    /// The refresh would wait for itself, through another.
    case circular
    /// The request was cancelled.
    case cancelled

    /// The error to fail with.
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
                reason: "\(window.limit) refreshes within \(window.duration)",
                underlying: failure
            )
        case .loggedOut:
            RequestError(.authenticationFailed, phase: .building, reason: "the credential was taken away meanwhile")
        case .circular:
            RequestError(.authenticationFailed, phase: .building, reason: "two refreshes would wait for each other")
        case .cancelled:
            CancellationError()
        }
    }
}

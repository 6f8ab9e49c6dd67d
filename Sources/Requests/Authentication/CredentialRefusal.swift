// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Why a request gets no credential.
enum CredentialRefusal: Error, Sendable {
    /// The refresh failed, with this error.
    case failed(any Error)
    /// There were too many refreshes.
    case excessive(RefreshWindow)
    /// The credential was taken away, by a logout, while the request had or awaited it.
    case loggedOut
    /// The refresh would wait for itself, by way of another.
    case circular
    /// Nobody wants it any more.
    case cancelled

    /// The error to fail with.
    var error: any Error {
        switch self {
        case .failed(let error as RequestError) where error.code == .refreshTimedOut:
            error
        case .failed(let error):
            RequestError(.authenticationFailed, phase: .building, underlying: error)
        case .excessive(let window):
            RequestError(
                .excessiveRefresh,
                phase: .building,
                reason: "\(window.limit) refreshes within \(window.duration)"
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

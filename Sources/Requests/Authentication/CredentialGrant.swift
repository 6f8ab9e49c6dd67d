// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A credential to send a request with.
struct CredentialGrant<Credential: Sendable>: Sendable {
    let credential: Credential
    /// Its number, for the request to carry.
    let generation: Int
    /// Whether it came while the request waited for it: if it is rejected, then not for its age.
    let isFresh: Bool
}

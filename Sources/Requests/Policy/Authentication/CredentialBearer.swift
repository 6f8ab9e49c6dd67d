// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An interceptor that sends requests in somebody's name.
protocol CredentialBearer: Interceptor {
    /// In whose name it does so now; nil where it doesn't.
    var credentialMark: CredentialMark? { get }
}

/// Tells a credential from those before and after it, without a secret in it.
struct CredentialMark: Sendable, Hashable {
    /// Who keeps the credential.
    let keeper: ObjectIdentifier
    /// Since which generation it is the same.
    let generation: Int
}

extension AuthenticationInterceptor: CredentialBearer {
    var credentialMark: CredentialMark? { keeper.credentialMark }
}

extension ScopedInterceptor: CredentialBearer {
    var credentialMark: CredentialMark? { (base as? any CredentialBearer)?.credentialMark }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What an operation waits for, that it may go on as somebody whom the server knows.
public enum AuthenticationStep: Sendable, Hashable {
    /// The answer to the challenge of a server, for which a user may be asked.
    case challenge(AuthenticationChallenge)
    /// The refresh of a credential, or what a recovery does: its own, or one that others need too.
    case refresh
}

extension AuthenticationStep: CustomStringConvertible {
    /// The step in a few words, such as `challenge Basic`.
    public var description: String {
        switch self {
        case .challenge(let challenge): "challenge \(challenge.scheme.shortened(to: 32))"
        case .refresh: "refresh"
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Why a piece of a ``TrustPolicy`` can't be made: what it was to be, and what is wrong with it.
///
/// A pin with a typing error, or a host that no address can have, would protect nothing and say nothing. So they are
/// refused where they are written down, and not when a connection is made.
public struct InvalidTrust: Error, Sendable, Hashable, CustomStringConvertible {
    /// A piece of a policy.
    public enum Piece: String, Sendable, Hashable {
        /// A certificate.
        case certificate
        /// The pin of a public key.
        case pin
        /// The name of a host, or the pattern of such names.
        case host
        /// A client's certificate and key.
        case identity = "client identity"
    }

    /// The piece that is at fault.
    public let piece: Piece
    /// What is wrong with it.
    public let reason: String
    /// The beginning of a pin or a host, with control characters escaped; of nothing else, which may be a secret.
    public let excerpt: String

    /// Makes the error; the excerpt is shortened here.
    public init(_ piece: Piece, _ reason: String, excerpt: String = "") {
        self.piece = piece
        self.reason = reason
        self.excerpt = excerpt.shortened()
    }

    /// The error, in a sentence.
    public var description: String {
        "the \(piece.rawValue)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)"
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A line or an event of a stream is larger than the limit.
///
/// It arrives as the underlying error of a ``RequestError`` whose code is `bodyTooLarge`.
public struct OversizedElement: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the stream is made of.
    public enum Kind: String, Sendable, Hashable {
        /// A line.
        case line
        /// An event.
        case event
    }

    /// What is too large.
    public let kind: Kind
    /// How many bytes there may be.
    public let limit: Int

    /// Makes the error.
    public init(_ kind: Kind, limit: Int) {
        self.kind = kind
        self.limit = limit
    }

    /// The error, in a sentence.
    public var description: String { "one \(kind.rawValue) of the stream is larger than \(limit) bytes" }
}

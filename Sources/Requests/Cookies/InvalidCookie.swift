// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Why a cookie isn't kept: which one, and what is wrong with it.
public struct InvalidCookie: Error, Sendable, Hashable, CustomStringConvertible {
    /// The beginning of the cookie's name, with control characters escaped; its value may be a secret, and isn't here.
    public let name: String
    /// What is wrong with it.
    public let reason: String

    /// Makes the error; the name is shortened here.
    public init(_ name: String, _ reason: String) {
        self.name = name.shortened()
        self.reason = reason
    }

    /// The error, in a sentence.
    public var description: String { "the cookie “\(name)” \(reason)" }
}

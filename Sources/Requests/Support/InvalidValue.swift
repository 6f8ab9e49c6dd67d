// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The reason why a value is refused, such as a pin with a typing error, or a cookie that its host can't set.
///
/// A rule that can't apply would silently protect nothing. Values are therefore checked when they are made, and not
/// when they are used.
public struct InvalidValue: DescribedError, Sendable, Hashable {
    /// A kind of value.
    public struct Kind: Sendable, Hashable {
        let name: String

        /// A certificate.
        public static let certificate = Kind(name: "certificate")
        /// The pin of a public key.
        public static let pin = Kind(name: "pin")
        /// The name of a host, or the pattern of such names.
        public static let host = Kind(name: "host")
        /// A client's certificate and key.
        public static let identity = Kind(name: "client identity")
        /// A cookie.
        public static let cookie = Kind(name: "cookie")
    }

    /// The kind of the value.
    public let kind: Kind
    /// The reason.
    public let reason: String
    /// The beginning of a pin, a host, or a cookie's name, with control characters escaped; never of other values,
    /// which may be secrets.
    public let excerpt: String

    /// Makes the error; the excerpt is shortened here.
    public init(_ kind: Kind, _ reason: String, excerpt: String = "") {
        self.kind = kind
        self.reason = reason
        self.excerpt = excerpt.shortened()
    }

    /// The error, in a sentence.
    public var description: String { "the \(kind.name)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)" }
}

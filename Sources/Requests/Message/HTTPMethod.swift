// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The method of a request: what is asked of the resource (RFC 9110, 9).
///
/// The registered methods in everyday use are static members; any other token is a method too:
///
/// ```swift
/// let purge: HTTPMethod = "PURGE"
/// ```
///
/// Methods are case-sensitive: `patch` is not `PATCH`. DELETE, GET, HEAD, OPTIONS, POST and PUT are always sent in
/// upper case, as in browsers (fetch). A method made from a literal or with ``init(_:)`` isn't checked at once; one
/// that is no token is refused, with an error, when its request is built, and never reaches the wire.
public struct HTTPMethod:
    Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The method as it stands in the request line.
    public let rawValue: String

    /// Makes a method of any name.
    public init(_ rawValue: String) {
        let isUpperCase = !rawValue.utf8.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        let normalized = isUpperCase ? nil : Self.normalized.first { $0.equalsIgnoringASCIICase(rawValue) }
        self.rawValue = normalized ?? rawValue
    }

    private static let normalized = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

    /// Makes a method of any name.
    public init(rawValue: String) {
        self.init(rawValue)
    }

    /// Makes a method from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Transfers a representation of the resource.
    public static let get = HTTPMethod("GET")
    /// The same as ``get``, without the content.
    public static let head = HTTPMethod("HEAD")
    /// Has the resource process the content.
    public static let post = HTTPMethod("POST")
    /// Replaces the resource with the content.
    public static let put = HTTPMethod("PUT")
    /// Changes a part of the resource (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod("DELETE")
    /// Asks which options the resource offers.
    public static let options = HTTPMethod("OPTIONS")
    /// Asks the resource a question that the content holds, without changing anything.
    public static let query = HTTPMethod("QUERY")
    /// Asks for a loop-back of the request.
    public static let trace = HTTPMethod("TRACE")
    /// Asks a proxy for a tunnel; transports send it themselves, and a request with it is refused.
    public static let connect = HTTPMethod("CONNECT")

    /// The methods that have a name here.
    public static let standard: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, .query, .trace, .connect,
    ]

    /// Whether the method only reads (RFC 9110, 9.2.1).
    ///
    /// Only safe requests are ever coalesced.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .query, .trace: true
        default: false
        }
    }

    /// Whether sending the request twice has the effect of sending it once (RFC 9110, 9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .put, .delete: true
        default: isSafe
        }
    }

    /// The method as it stands in the request line.
    public var description: String { rawValue }
}

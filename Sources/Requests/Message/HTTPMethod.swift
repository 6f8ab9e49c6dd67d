// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The method of a request, that is, what the server should do with the resource (RFC 9110, 9).
///
/// The commonly used registered methods are static members. Any other token is a method too:
///
/// ```swift
/// let purge: HTTPMethod = "PURGE"
/// ```
///
/// Methods are case-sensitive: `patch` is not `PATCH`. DELETE, GET, HEAD, OPTIONS, POST and PUT are always sent in
/// upper case, as in browsers (WHATWG Fetch). Creating a method from a literal or with ``init(_:)`` doesn't validate
/// it. If it isn't a token, building the request throws an error, so nothing invalid is ever sent.
public struct HTTPMethod:
    Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The method as it appears in the request line.
    public let rawValue: String

    /// Creates a method with any name.
    public init(_ rawValue: String) {
        let isUpperCase = !rawValue.utf8.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        let normalized = isUpperCase ? nil : Self.normalized.first { $0.equalsIgnoringASCIICase(rawValue) }
        self.rawValue = normalized ?? rawValue
    }

    private static let normalized = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

    /// Creates a method with any name.
    public init(rawValue: String) {
        self.init(rawValue)
    }

    /// Creates a method from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Transfers a representation of the resource.
    public static let get = HTTPMethod("GET")
    /// The same as ``get``, but the response has no content.
    public static let head = HTTPMethod("HEAD")
    /// Lets the resource process the content.
    public static let post = HTTPMethod("POST")
    /// Replaces the resource with the content.
    public static let put = HTTPMethod("PUT")
    /// Changes part of the resource (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// Removes the resource.
    public static let delete = HTTPMethod("DELETE")
    /// Requests the communication options of the resource.
    public static let options = HTTPMethod("OPTIONS")
    /// Sends a query as the content and returns its result, without changing the resource.
    public static let query = HTTPMethod("QUERY")
    /// Requests a loop-back of the request.
    public static let trace = HTTPMethod("TRACE")
    /// Requests a tunnel from a proxy.
    ///
    /// Transports send this method themselves; a request that uses it is rejected.
    public static let connect = HTTPMethod("CONNECT")

    /// The methods that are static members of this type.
    public static let standard: [HTTPMethod] = [
        .get, .head, .post, .put, .patch, .delete, .options, .query, .trace, .connect,
    ]

    /// Whether the method is read-only (RFC 9110, 9.2.1).
    ///
    /// Only safe requests can share a transfer.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .query, .trace: true
        default: false
        }
    }

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110, 9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .put, .delete: true
        default: isSafe
        }
    }

    /// The method as it appears in the request line.
    public var description: String { rawValue }
}

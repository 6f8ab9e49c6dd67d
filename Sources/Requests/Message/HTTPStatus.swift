// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The status code of a response (RFC 9110, 15).
///
/// An open set: every code is a status, known or not, and says by its first digit what it means.
///
/// ```swift
/// if response.status == .tooManyRequests || response.status.category == .serverError { … }
/// ```
public struct HTTPStatus: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The three digits.
    public let code: Int

    /// Makes a status from its code.
    public init(_ code: Int) {
        self.code = code
    }

    /// Makes a status from a literal.
    public init(integerLiteral value: Int) {
        self.init(value)
    }

    /// What the first digit of a status says.
    public enum Category: Sendable, Hashable {
        /// 1xx: the final response is yet to come.
        case informational
        /// 2xx: the request succeeded.
        case success
        /// 3xx: something else has to be done first.
        case redirection
        /// 4xx: the request can't be answered as it is.
        case clientError
        /// 5xx: the server failed.
        case serverError
        /// Not a code that HTTP defines.
        case unknown
    }

    /// What the first digit says.
    public var category: Category {
        switch code {
        case 100..<200: .informational
        case 200..<300: .success
        case 300..<400: .redirection
        case 400..<500: .clientError
        case 500..<600: .serverError
        default: .unknown
        }
    }

    /// The registered name of the status, or nil where there is none.
    public var name: String? { Self.names[code] }

    /// The code and its name, such as `404 Not Found`.
    public var description: String {
        name.map { "\(code) \($0)" } ?? String(code)
    }

    /// Orders statuses by their code.
    public static func < (lhs: HTTPStatus, rhs: HTTPStatus) -> Bool {
        lhs.code < rhs.code
    }
}

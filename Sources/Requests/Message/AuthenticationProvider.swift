// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds the caller's credentials to a request, once for every attempt.
///
/// ```swift
/// request.authenticated(with: .bearerToken(token))
/// request.authenticated(with: AuthenticationProvider { try $0.sign(with: key) })
/// ```
///
/// The provider receives the request with its final URL, headers and body, before any interceptor runs. Fields that it
/// sets replace fields of the same name that the request's definition has set. For credentials that expire and must be
/// fetched, use an interceptor.
public struct AuthenticationProvider: Sendable {
    private let change: @Sendable (inout HTTPRequest) throws -> Void

    /// Creates a provider from a closure.
    ///
    /// - Parameter authenticate: Changes the request. The library calls it for every attempt. If it throws an error,
    ///   the request fails with that error.
    public init(_ authenticate: @escaping @Sendable (inout HTTPRequest) throws -> Void) {
        change = authenticate
    }

    /// Adds nothing, and keeps the credentials that the request's definition has set.
    public static let none = AuthenticationProvider { _ in }

    /// Adds a bearer token (RFC 6750, 2.1).
    public static func bearerToken(_ token: String) -> AuthenticationProvider {
        .authorization(.bearer(token))
    }

    /// Adds a user name and password, encoded in UTF-8 (RFC 7617).
    ///
    /// A user name with a colon makes the request fail when it is built, because the server would read everything after
    /// the colon as part of the password.
    public static func basicAuth(username: String, password: String) -> AuthenticationProvider {
        .authorization(.basic(username: username, password: password))
    }

    /// Adds credentials of any scheme.
    public static func authorization(_ authorization: Authorization) -> AuthenticationProvider {
        AuthenticationProvider { $0.headers.set(.authorization(authorization)) }
    }

    /// Adds a field whose value is a secret, so it is never shown in a description or sent to another origin.
    public static func header(_ name: HTTPField.Name, _ value: String) -> AuthenticationProvider {
        AuthenticationProvider { $0.headers.set(value, for: name.markedSecret) }
    }

    /// Adds the credentials to a request.
    ///
    /// - Throws: Any error that the closure throws.
    public func authenticate(_ request: inout HTTPRequest) throws {
        try change(&request)
    }
}

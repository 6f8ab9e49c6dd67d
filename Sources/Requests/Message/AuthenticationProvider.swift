// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds the credentials of a caller to a request, for every attempt.
///
/// ```swift
/// request.authenticated(with: .bearerToken(token))
/// request.authenticated(with: AuthenticationProvider { try $0.sign(with: key) })
/// ```
///
/// It gets the request as it will be sent, with its address, its headers and its body, but before interceptors; fields
/// that it sets replace those of the request's description. For credentials that expire and have to be fetched, use an
/// interceptor.
public struct AuthenticationProvider: Sendable {
    private let change: @Sendable (inout HTTPRequest) throws -> Void

    /// Makes a provider of a closure.
    ///
    /// - Parameter authenticate: Changes the request. Called for every attempt; an error that it throws is the failure
    ///   of the request.
    public init(_ authenticate: @escaping @Sendable (inout HTTPRequest) throws -> Void) {
        change = authenticate
    }

    /// Adds nothing, and keeps credentials of the request's description.
    public static let none = AuthenticationProvider { _ in }

    /// Adds a bearer token (RFC 6750, 2.1).
    public static func bearerToken(_ token: String) -> AuthenticationProvider {
        .authorization(.bearer(token))
    }

    /// Adds a user's name and password, in UTF-8 (RFC 7617).
    ///
    /// A name with a colon can't be distinguished from a shorter one with a longer password: it is an error when the
    /// request is built.
    public static func basicAuth(username: String, password: String) -> AuthenticationProvider {
        .authorization(.basic(username: username, password: password))
    }

    /// Adds credentials of any scheme.
    public static func authorization(_ authorization: Authorization) -> AuthenticationProvider {
        AuthenticationProvider { $0.headers.set(.authorization(authorization)) }
    }

    /// Adds a field whose value is a secret: no description shows it, and no other origin receives it.
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

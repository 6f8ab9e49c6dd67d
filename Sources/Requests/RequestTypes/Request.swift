// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A request as a value, with the types of its result and its error, and an identifier.
///
/// Conform to one of the more specific protocols, usually ``DecodableRequest``, and pass the request to a queue:
///
/// ```swift
/// struct RecipeRequest: DecodableRequest {
///     typealias Success = Recipe
///     let recipeID: String
///     var identifier: String { recipeID }
///     …
/// }
/// ```
///
/// Two requests are equal if they have the same type and identifier; ``RequestQueue/requestCurrentlyExecuting(_:)``
/// relies on this.
public protocol Request<Success, Failure>: Sendable, Hashable {
    /// The type of the request's value.
    associatedtype Success: Sendable
    /// The type of the request's errors; `any Error` by default. For typed errors, use ``RequestError`` or an error
    /// type of your own.
    associatedtype Failure: Error = any Error

    /// Distinguishes the request from other requests of its type. Include everything that changes the sent request.
    var identifier: String { get }

    /// Converts any error to the request's error type.
    ///
    /// Errors of the library arrive as ``RequestError``; errors that the request has thrown itself arrive unchanged.
    /// There is a default if `Failure` is `any Error` or ``RequestError``. Called once for a failed operation, on an
    /// unspecified thread.
    func mapError(_ error: any Error) -> Failure
}

extension Request where Failure == any Error {
    /// Returns the error unchanged.
    public func mapError(_ error: any Error) -> Failure { error }
}

extension Request where Failure == RequestError {
    /// Returns a ``RequestError`` unchanged, and wraps any other error in a ``RequestError``.
    public func mapError(_ error: any Error) -> Failure { RequestError(error) }
}

extension Request {
    /// Compares the identifiers.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.identifier == rhs.identifier
    }

    /// Hashes the type and the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(Self.self))
        hasher.combine(identifier)
    }
}

// MARK: - Type name

/// A request type that is displayed under another name.
package protocol NamedRequestType {
    /// The name to display.
    static var typeName: String { get }
}

extension Request {
    /// The name of the type, for monitors and graphs.
    package static var shownTypeName: String {
        (Self.self as? any NamedRequestType.Type)?.typeName ?? String(describing: Self.self)
    }
}

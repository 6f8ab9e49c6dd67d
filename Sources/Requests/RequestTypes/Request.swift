// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A request as a value: its result, its error and its identity.
///
/// Declare a request with one of the more specific protocols, ``DecodableRequest`` for most, and pass it to a queue:
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
/// Two requests are equal if their types and identifiers are; ``RequestQueue/requestCurrentlyExecuting(_:)`` uses this.
public protocol Request<Success, Failure>: Sendable, Hashable {
    /// The value of the request.
    associatedtype Success: Sendable
    /// The type of the errors; `any Error` by default. ``RequestError`` and an error type of your own are typed
    /// choices.
    associatedtype Failure: Error = any Error

    /// Distinguishes the request from others of its type. Everything that changes the sent request belongs in it.
    var identifier: String { get }

    /// Converts any error to the request's own type.
    ///
    /// The library's errors arrive as ``RequestError``; those that the request itself threw arrive unchanged. There is
    /// a default if `Failure` is `any Error` or ``RequestError``. Called once for a failed operation, on no particular
    /// thread.
    func mapError(_ error: any Error) -> Failure
}

extension Request where Failure == any Error {
    /// Returns the error unchanged.
    public func mapError(_ error: any Error) -> Failure { error }
}

extension Request where Failure == RequestError {
    /// Returns a ``RequestError`` unchanged, and wraps any other error in one.
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

/// A request type that is shown under another name than its own.
package protocol NamedRequestType {
    /// The name to show.
    static var typeName: String { get }
}

extension Request {
    /// The name of the type, for monitors and graphs.
    package static var shownTypeName: String {
        (Self.self as? any NamedRequestType.Type)?.typeName ?? String(describing: Self.self)
    }
}

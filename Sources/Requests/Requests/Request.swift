// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Something that can be asked for, as a value: what comes of it, what may go wrong, and who it is.
///
/// Declare a request as one of the more special protocols, ``DecodableRequest`` for most, and hand it to a queue:
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
/// Two requests are equal when their types and identifiers are: that is what
/// ``RequestQueue/requestCurrentlyExecuting(_:)`` goes by.
public protocol Request<Success, Failure>: Sendable, Hashable {
    /// What comes of the request.
    associatedtype Success: Sendable
    /// What may go wrong; `any Error` by default. ``RequestError`` and an error type of your own are typed choices.
    associatedtype Failure: Error = any Error

    /// Tells the request from others of its type. Everything that changes what is sent belongs in it.
    var identifier: String { get }

    /// Makes any error one of the request's own.
    ///
    /// The library's errors arrive as ``RequestError``; those that the request itself threw arrive as they were thrown.
    /// There is a default where `Failure` is `any Error` or ``RequestError``. Called once for a failed operation, on no
    /// thread in particular.
    func mapError(_ error: any Error) -> Failure
}

extension Request where Failure == any Error {
    /// Leaves the error as it is.
    public func mapError(_ error: any Error) -> Failure { error }
}

extension Request where Failure == RequestError {
    /// Leaves a ``RequestError`` as it is, and makes every other the underlying error of one.
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

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
    /// The value of the request.
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

// MARK: - Type name

/// A type of requests that is known by another name than its own.
protocol NamedRequestType {
    /// The name that people know it by.
    static var typeName: String { get }
}

extension Request {
    /// The name of the type as monitors and pictures show it.
    static var shownTypeName: String {
        (Self.self as? any NamedRequestType.Type)?.typeName ?? String(describing: Self.self)
    }
}

/// Where an operation has its request from: given, or made when the operation starts.
///
/// A deferred request is how one operation is made from the result of another: the closure runs when all dependencies
/// are finished, and can read their results.
public struct RequestSource<R: Request>: Sendable {
    private enum Kind: Sendable {
        // In a box, since a source goes through many hands before it is read.
        case value(Box<R>)
        case deferred(DeferredRequest<R>)
    }

    private let kind: Kind

    /// A request that is there.
    public static func value(_ request: R) -> RequestSource {
        RequestSource(kind: .value(Box(request)))
    }

    /// A request that is made when the operation starts.
    ///
    /// - Parameters:
    ///   - mapError: Makes an error the request's own, as long as there is no request that could.
    ///   - make: Makes the request; what it throws is the failure of the operation. Called once at most.
    /// - Returns: The source.
    public static func deferred(
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable () throws -> R
    ) -> RequestSource {
        RequestSource(kind: .deferred(DeferredRequest(mapError, make)))
    }

    /// The request, if it exists already.
    var value: R? {
        switch kind {
        case .value(let request): request.value
        case .deferred(let deferred): deferred.value
        }
    }

    /// What makes the request when the operation starts; nil for a request that was given.
    var deferred: DeferredRequest<R>? {
        if case .deferred(let deferred) = kind { deferred } else { nil }
    }

    func mapError(_ error: any Error) -> R.Failure {
        switch kind {
        case .value(let request): request.value.mapError(error)
        case .deferred(let deferred): deferred.mapError(error)
        }
    }
}

/// A request that is made when its operation starts.
final class DeferredRequest<R: Request>: Sendable {
    private struct State {
        var make: (@Sendable () throws -> R)?
        var made: Box<R>?
    }

    private let mapOwnError: @Sendable (any Error) -> R.Failure
    private let state: Locked<State>

    init(_ mapError: @escaping @Sendable (any Error) -> R.Failure, _ make: @escaping @Sendable () throws -> R) {
        mapOwnError = mapError
        state = Locked(State(make: make))
    }

    /// The request, once it is made.
    var value: R? { state.withLock { $0.made }?.value }

    /// Makes the request, the first time; nil afterwards, and behind ``forget()``.
    func make() throws -> R? {
        guard let make = forget() else { return nil }
        let request = Box(try make())
        state.withLock { $0.made = request }
        return request.value
    }

    /// Forgets the closure that makes the request: it holds on to the operations whose results it reads, and a chain of
    /// those is not to be kept alive by its end.
    @discardableResult
    func forget() -> (@Sendable () throws -> R)? {
        state.withLock { state in
            defer { state.make = nil }
            return state.make
        }
    }

    func mapError(_ error: any Error) -> R.Failure { value?.mapError(error) ?? mapOwnError(error) }
}

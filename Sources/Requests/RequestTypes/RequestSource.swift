// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The source of an operation's request: given, or resolved when the operation starts.
///
/// With a deferred request, one operation is resolved from the result of another: the closure runs when all dependencies
/// are finished, and can read their results.
public struct RequestSource<R: Request>: Sendable {
    private enum Kind: Sendable {
        case value(R)
        case deferred(DeferredRequest<R>)
    }

    private let kind: Kind

    /// A request that already exists.
    public static func value(_ request: R) -> RequestSource {
        RequestSource(kind: .value(request))
    }

    /// A request that is resolved when the operation starts.
    ///
    /// - Parameters:
    ///   - mapError: Converts an error to the request's own type, while there is no request that could.
    ///   - make: Makes the request; an error that it throws is the failure of the operation. Called at most once.
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
        case .value(let request): request
        case .deferred(let deferred): deferred.value
        }
    }

    /// The deferred request; `nil` for a request that was given.
    var deferred: DeferredRequest<R>? {
        if case .deferred(let deferred) = kind { deferred } else { nil }
    }

    func mapError(_ error: any Error) -> R.Failure {
        switch kind {
        case .value(let request): request.mapError(error)
        case .deferred(let deferred): deferred.mapError(error)
        }
    }
}

/// A request that is resolved when its operation starts.
final class DeferredRequest<R: Request>: Sendable {
    private struct State {
        var make: (@Sendable () throws -> R)?
        var resolved: Box<R>?
    }

    private let fallbackMapError: @Sendable (any Error) -> R.Failure
    private let state: Locked<State>

    init(_ mapError: @escaping @Sendable (any Error) -> R.Failure, _ make: @escaping @Sendable () throws -> R) {
        fallbackMapError = mapError
        state = Locked(State(make: make))
    }

    /// The request, once it is resolved.
    var value: R? { state.withLock { $0.resolved }?.value }

    /// Makes the request at the first call; returns `nil` later, and after ``forget()``.
    func make() throws -> R? {
        guard let make = forget() else { return nil }
        let request = Box(try make())
        state.withLock { $0.resolved = request }
        return request.value
    }

    /// Releases the closure that makes the request: it retains the operations whose results it reads, and the last one
    /// of a chain must not keep the others alive.
    @discardableResult
    func forget() -> (@Sendable () throws -> R)? {
        state.withLock { state in
            defer { state.make = nil }
            return state.make
        }
    }

    func mapError(_ error: any Error) -> R.Failure { value?.mapError(error) ?? fallbackMapError(error) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The source of an operation's request, which either exists already or is created when the operation starts.
///
/// With a deferred request, one operation can use the result of another operation. The closure that creates the request
/// runs when all dependencies are finished, so it can read their results.
public struct RequestSource<R: Request>: Sendable {
    private enum Kind: Sendable {
        case value(R)
        case deferred(DeferredRequest<R>)
    }

    private let kind: Kind

    /// Creates a source with an existing request.
    public static func value(_ request: R) -> RequestSource {
        RequestSource(kind: .value(request))
    }

    /// Creates a source with a request that is created when the operation starts.
    ///
    /// - Parameters:
    ///   - mapError: Converts an error to the request's error type if the request doesn't exist yet.
    ///   - make: Creates the request; an error that it throws is the failure of the operation. Called at most once.
    /// - Returns: The source.
    public static func deferred(
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable () throws -> R
    ) -> RequestSource {
        RequestSource(kind: .deferred(DeferredRequest(mapError, make)))
    }

    /// The request, if it already exists.
    var value: R? {
        switch kind {
        case .value(let request): request
        case .deferred(let deferred): deferred.value
        }
    }

    /// The deferred request; `nil` for a request that existed from the beginning.
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

/// A request that is created when its operation starts.
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

    /// The request, once it has been created.
    var value: R? { state.withLock { $0.resolved }?.value }

    /// Creates the request on the first call; returns `nil` on later calls, and after ``takeClosure()``.
    func make() throws -> R? {
        guard let make = takeClosure() else { return nil }
        let request = Box(try make())
        state.withLock { $0.resolved = request }
        return request.value
    }

    /// Releases and returns the closure that creates the request.
    ///
    /// The closure retains the operations whose results it reads. If the closure weren't released, the last operation
    /// of a chain would keep all other operations alive.
    @discardableResult
    func takeClosure() -> (@Sendable () throws -> R)? {
        state.withLock { state in
            defer { state.make = nil }
            return state.make
        }
    }

    func mapError(_ error: any Error) -> R.Failure { value?.mapError(error) ?? fallbackMapError(error) }
}

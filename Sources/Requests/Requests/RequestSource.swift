// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Where an operation has its request from: given, or made when the operation starts.
///
/// A deferred request is how one operation is made from the result of another: the closure runs when all dependencies
/// are finished, and can read their results.
public struct RequestSource<R: Request>: Sendable {
    private enum Kind: Sendable {
        // In a box, since a source goes through many hands before it is read.
        case value(Box<R>)
        case deferred(make: (@Sendable () throws -> R)?, mapError: @Sendable (any Error) -> R.Failure)
    }

    private var kind: Kind

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
        RequestSource(kind: .deferred(make: make, mapError: mapError))
    }

    /// The request, where it is there.
    var value: R? {
        if case .value(let request) = kind { request.value } else { nil }
    }

    /// Gives the closure that makes the request, once, and forgets it: it holds on to the operations whose results it
    /// reads, and a chain of those is not to be kept alive by its end.
    mutating func takeMake() -> (@Sendable () throws -> R)? {
        guard case .deferred(let make, let mapError) = kind else { return nil }
        kind = .deferred(make: nil, mapError: mapError)
        return make
    }

    func mapError(_ error: any Error) -> R.Failure {
        switch kind {
        case .value(let request): request.value.mapError(error)
        case .deferred(_, let mapError): mapError(error)
        }
    }
}

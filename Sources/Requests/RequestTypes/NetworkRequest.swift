// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is sent over HTTP: the request to send, and the accepted statuses.
///
/// You will seldom adopt this protocol itself. ``DecodableRequest``, ``DataRequest`` and ``NoContentRequest`` define
/// the value of the content; each of them has its own operation.
public protocol NetworkRequest: Request {
    /// The operation of the request; every protocol below has its own, and a request may name a subclass.
    associatedtype OperationType: NetworkOperation<Self>

    /// The type of the valid statuses: any sequence of `Int` or of ``HTTPStatus``.
    associatedtype ValidHTTPStatusCodes = [Int]

    /// The accepted statuses; 200 to 299 by default.
    ///
    /// Any other is an error of code `unacceptableStatus`, which carries the response. A 304 that answers a conditional
    /// request is accepted too.
    ///
    /// An array, a set or a range of `Int` or ``HTTPStatus``; a property of another type doesn't compile.
    var validHTTPStatusCodes: ValidHTTPStatusCodes { get }

    /// The codes of the accepted statuses. Don't implement it; declare ``validHTTPStatusCodes``.
    var validStatusCodes: [Int] { get }

    /// The options that override those of the environment; none by default.
    var options: RequestOptions { get }

    /// The options, with those of the requests that this one is made of. Don't implement it; declare ``options``.
    var resolvedOptions: RequestOptions { get }

    /// Makes the request to send, and passes it to `completion`, now or later, from any thread.
    ///
    /// Called once for every attempt. Only the first call of the completion counts. An operation whose completion is
    /// released without a call fails; one whose completion is kept for ever waits for its deadline or a cancellation.
    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)

    /// Makes the request to send as the library's own value; by default from ``makeURLRequest(completion:)``.
    ///
    /// Implement this one instead if a `URLRequest` can't represent the request: repeated headers, a file as body, a
    /// stream that can be opened again.
    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    )

    /// Makes the operation of the request. The default makes an ``OperationType``.
    static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType
}

extension NetworkRequest where ValidHTTPStatusCodes == [Int] {
    /// 200 to 299.
    public var validHTTPStatusCodes: [Int] { successfulStatusCodes }
}

// The associated type has no constraint, so that a property of a wrong type doesn't silently lose to the default: then
// none of these extensions applies to it.

extension NetworkRequest where ValidHTTPStatusCodes: Sequence<Int> {
    /// The codes of the valid statuses.
    public var validStatusCodes: [Int] { Array(validHTTPStatusCodes) }
}

extension NetworkRequest where ValidHTTPStatusCodes: Sequence<HTTPStatus> {
    /// The codes of the valid statuses.
    public var validStatusCodes: [Int] { validHTTPStatusCodes.map(\.code) }
}

extension NetworkRequest {
    /// No options.
    public var options: RequestOptions { RequestOptions() }

    /// The options.
    public var resolvedOptions: RequestOptions { options }

    /// Makes the request from ``makeURLRequest(completion:)``.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        makeURLRequest { result in
            completion(result.flatMap { request in Result { try HTTPRequest(request) } })
        }
    }

    /// Makes the request to send, with the changes that modifiers have recorded in the options.
    ///
    /// They are applied only here, once, and before the changes of a later page or a reconnection.
    package func makeHTTPRequest(
        in environment: RequestEnvironment,
        changedBy options: RequestOptions,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        guard options.hasChanges else { return makeHTTPRequest(in: environment, completion: completion) }
        makeHTTPRequest(in: environment) { result in
            completion(
                result.map { request in
                    var request = request
                    if let convertible = self as? any RequestConvertible {
                        convertible.applyChanges(options, of: &request, in: environment)
                    } else {
                        options.change(&request)
                    }
                    return request
                }
            )
        }
    }

    /// Builds the request to send, with all changes that precede the inherited settings.
    ///
    /// - Throws: The error of the request's completion handler, and `CancellationError` if the task is cancelled
    ///   before.
    func makeHTTPRequest(_ configuration: RunConfiguration) async throws -> HTTPRequest {
        var made = try await BuildReply.wait { reply in
            makeHTTPRequest(in: configuration.environment, changedBy: configuration.options, completion: reply)
        }
        for change in configuration.environment.changes { try change(&made) }
        return made
    }

    /// Makes an ``OperationType``.
    public static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType {
        OperationType(configuration)
    }
}

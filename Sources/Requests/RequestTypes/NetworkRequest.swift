// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is sent over HTTP, with the request to send and the accepted statuses.
///
/// You rarely need to conform to this protocol directly. ``DecodableRequest``, ``DataRequest`` and ``NoContentRequest``
/// define how the value is created from the content, and each of them has its own operation.
public protocol NetworkRequest: Request {
    /// The type of operation that runs the request. Each refining protocol has its own operation type; a request may
    /// specify a subclass.
    associatedtype OperationType: NetworkOperation<Self>

    /// The type of the accepted statuses: any sequence of `Int` or ``HTTPStatus``.
    associatedtype ValidHTTPStatusCodes = [Int]

    /// The accepted statuses; 200 to 299 by default.
    ///
    /// Any other status fails the request with the code `unacceptableStatus`; the error contains the response. A 304
    /// response to a conditional request is also accepted.
    ///
    /// The value is an array, a set or a range of `Int` or ``HTTPStatus``; a property of another type doesn't compile.
    var validHTTPStatusCodes: ValidHTTPStatusCodes { get }

    /// The codes of the accepted statuses. Don't implement this property; declare ``validHTTPStatusCodes`` instead.
    var validStatusCodes: [Int] { get }

    /// The options, which override the environment's options; none by default.
    var options: RequestOptions { get }

    /// The options, combined with the options of the requests that this request is built from.
    ///
    /// Don't implement this property; declare ``options`` instead.
    var resolvedOptions: RequestOptions { get }

    /// Creates the request to send, and passes it to `completion`, immediately or later, from any thread.
    ///
    /// Called once for every attempt. Only the first call to the completion counts. If the completion is released
    /// without being called, the operation fails. If the completion is retained forever, the operation waits until its
    /// deadline or a cancellation.
    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)

    /// Creates the request to send as an ``HTTPRequest``; by default, from ``makeURLRequest(completion:)``.
    ///
    /// Implement this method instead if a `URLRequest` can't represent the request. Examples are repeated headers, a
    /// file body, and a stream that can be opened again.
    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    )

    /// Creates the operation of the request, by default an ``OperationType``.
    static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType
}

extension NetworkRequest where ValidHTTPStatusCodes == [Int] {
    /// 200 to 299.
    public var validHTTPStatusCodes: [Int] { successfulStatusCodes }
}

// The associated type is unconstrained so that a property of the wrong type fails to compile, because none of these
// extensions applies to it. Otherwise, Swift would silently ignore the property in favour of the default.

extension NetworkRequest where ValidHTTPStatusCodes: Sequence<Int> {
    /// The codes of the accepted statuses.
    public var validStatusCodes: [Int] { Array(validHTTPStatusCodes) }
}

extension NetworkRequest where ValidHTTPStatusCodes: Sequence<HTTPStatus> {
    /// The codes of the accepted statuses.
    public var validStatusCodes: [Int] { validHTTPStatusCodes.map(\.code) }
}

extension NetworkRequest {
    /// No options.
    public var options: RequestOptions { RequestOptions() }

    /// The options.
    public var resolvedOptions: RequestOptions { options }

    /// Creates the request from ``makeURLRequest(completion:)``.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        makeURLRequest { result in
            completion(result.flatMap { request in Result { try HTTPRequest(request) } })
        }
    }

    /// Creates the request to send, and applies the changes that modifiers have recorded in the options.
    ///
    /// The changes are applied only here, once, before the changes for a later page or a reconnection.
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
    /// - Throws: The error that the request passes to its completion, or `CancellationError` if the task is cancelled
    ///   first.
    func makeHTTPRequest(_ configuration: RunConfiguration) async throws -> HTTPRequest {
        var request = try await BuildReply.wait { reply in
            makeHTTPRequest(in: configuration.environment, changedBy: configuration.options, completion: reply)
        }
        for change in configuration.environment.changes { try change(&request) }
        return request
    }

    /// Creates an ``OperationType``.
    public static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType {
        OperationType(configuration)
    }
}

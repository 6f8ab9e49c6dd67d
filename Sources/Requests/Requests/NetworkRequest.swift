// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that goes over HTTP: which request to send, and which statuses are good.
///
/// You will seldom adopt this protocol itself. ``DecodableRequest``, ``DataRequest`` and ``NoContentRequest`` say what
/// is made of the content; each of them brings the operation that it runs as.
public protocol NetworkRequest: Request {
    /// The operation that the request runs as; every protocol below brings its own, and a request may bring a subclass.
    associatedtype OperationType: NetworkOperation<Self>

    /// The statuses that are answers; 200 to 299 by default. Any other is an error of code `unacceptableStatus`, which
    /// carries the response. A 304 that answers a conditional request is an answer too.
    var validHTTPStatusCodes: [Int] { get }

    /// What the request overrides of the environment that it runs in; nothing by default.
    var options: RequestOptions { get }

    /// Makes the request to send, and hands it to `completion`, now or later, from any thread.
    ///
    /// Called once for every attempt. Only the first call of the completion counts. An operation whose completion is
    /// let go of without a call fails; one whose completion is kept for ever waits for its deadline or a cancel.
    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)

    /// Makes the request to send as the pipeline's own value; by default from ``makeURLRequest(completion:)``.
    ///
    /// Implement this one instead where a `URLRequest` can't say what is to be sent: repeated headers, a file as body,
    /// a stream that can be opened again.
    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    )

    /// Makes the operation that the request runs as. The default makes an ``OperationType``.
    static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType
}

extension NetworkRequest {
    /// 200 to 299.
    public var validHTTPStatusCodes: [Int] { successfulStatusCodes }

    /// Overrides nothing.
    public var options: RequestOptions { RequestOptions() }

    /// Takes over what ``makeURLRequest(completion:)`` makes.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        makeURLRequest { result in
            completion(result.flatMap { request in Result { try HTTPRequest(request) } })
        }
    }

    /// Makes an ``OperationType``.
    public static func makeOperation(_ configuration: OperationConfiguration<Self>) -> OperationType {
        OperationType(configuration)
    }
}

// Made once: the default is asked for with every response.
let successfulStatusCodes = Array(200..<300)

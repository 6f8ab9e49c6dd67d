// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Something that offers an API: requests are sent by its name.
///
/// ```swift
/// struct GitHub: NetworkService {
///     let client = HTTPClient(baseURL: URL(string: "https://api.github.com"))
/// }
/// let user = try await GitHub().send(GetUser(name: "ada")).body
/// ```
///
/// One that has only a base URL runs over ``HTTPClient/shared``:
///
/// ```swift
/// struct GitHub: NetworkService { let baseURL = URL(string: "https://api.github.com") }
/// ```
///
/// Inherit it in a protocol of your own to put a stand-in in the place of the service in tests.
public protocol NetworkService {
    /// What runs the requests; ``HTTPClient/shared`` by default.
    var client: HTTPClient { get }
    /// What relative addresses are appended to; by default the base URL of the client.
    var baseURL: URL? { get }
}

extension NetworkService {
    /// The client of the process.
    public var client: HTTPClient { .shared }

    /// The base URL of the client.
    public var baseURL: URL? { client.baseURL }

    /// Runs a request, and waits for its value together with the response that it was made of.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Throws: The failure of the request.
    public func send<R: NetworkRequest>(_ request: R) async throws(R.Failure) -> HTTPResponse<R.Success> {
        try await queue.send(request)
    }

    /// Runs a request, and waits for its value.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Throws: The failure of the request.
    public func fetch<R: NetworkRequest>(_ request: R) async throws(R.Failure) -> R.Success {
        try await queue.fetch(request)
    }

    /// Runs a request as an operation of the client's queue.
    @discardableResult
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        completionQueue: DispatchQueue? = nil,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        queue.addRequest(request, completionQueue: completionQueue, completion: completion)
    }

    private var queue: HTTPClient {
        let (client, baseURL) = (client, baseURL)
        return baseURL == client.baseURL ? client : client.relocated(to: baseURL)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that represents an API and sends its requests.
///
/// ```swift
/// struct GitHub: NetworkService {
///     let client = HTTPClient(baseURL: URL(string: "https://api.github.com"))
/// }
/// let user = try await GitHub().send(GetUser(name: "ada")).body
/// ```
///
/// A service that has only a base URL uses ``HTTPClient/shared``:
///
/// ```swift
/// struct GitHub: NetworkService { let baseURL = "https://api.github.com" }
/// ```
///
/// The base URL may be a `URL`, a `URL?` or a `String`. A service whose ``baseURL`` or ``client`` has any other type
/// doesn't compile. With an invalid base URL, each request with a relative address fails.
///
/// To replace the service in tests, inherit it in a protocol of your own.
public protocol NetworkService {
    /// The type of the client: always an ``HTTPClient``.
    associatedtype ServiceClient = HTTPClient
    /// The type of the base URL: `URL`, `URL?` or `String`.
    associatedtype ServiceBaseURL = URL?

    /// The client of the requests; ``HTTPClient/shared`` by default.
    var client: ServiceClient { get }
    /// The URL that relative addresses are appended to; by default the base URL of the client.
    var baseURL: ServiceBaseURL { get }

    /// The client for the service's requests: with the base URL of the service. Don't implement it.
    var requestQueue: HTTPClient { get }
}

extension NetworkService where ServiceClient == HTTPClient {
    /// The client of the process.
    public var client: HTTPClient { .shared }
}

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == URL? {
    /// The base URL of the client.
    public var baseURL: URL? { client.baseURL }

    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: baseURL) }
}

// Both associated types are unconstrained, so that a property of a wrong type is taken for the service's own, and then
// there is no `requestQueue` for it. If they were `URL?` and `HTTPClient`, the property would silently lose to the
// default.

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == URL {
    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: baseURL) }
}

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == String {
    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: URL(base: baseURL)) }
}

extension NetworkService {
    /// Runs a request, and waits for its value together with the response that it was made of.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Throws: The failure of the request.
    public func send<R: NetworkRequest>(_ request: R) async throws(R.Failure) -> HTTPResponse<R.Success> {
        try await requestQueue.send(request)
    }

    /// Runs a request, and waits for its value.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Throws: The failure of the request.
    public func fetch<R: NetworkRequest>(_ request: R) async throws(R.Failure) -> R.Success {
        try await requestQueue.fetch(request)
    }

    /// Runs a request as an operation of the client's queue.
    @discardableResult
    @_disfavoredOverload
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        completionQueue: DispatchQueue? = nil,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        requestQueue.addRequest(request, completionQueue: completionQueue, completion: completion)
    }
}

// MARK: - Type name

extension TypedRequest: NamedRequestType {
    /// The alias of the type: `Get<User>`, `APIRequest<ExampleAPI, User>`; `HTTPRequest<User>` for an `HTTPRequest`
    /// that decodes its response.
    package static var typeName: String {
        // The name of `Void` would be `()`.
        let success = Success.self == Void.self ? "Void" : "\(Success.self)"
        return switch Tag.self {
        case is any HTTPMethod.Tag.Type: "\(Tag.self)<\(success)>"
        case is any RequestProviding.Type: "APIRequest<\(Tag.self), \(success)>"
        case is HTTPRequest.Type: "HTTPRequest<\(success)>"
        default: String(describing: Self.self)
        }
    }
}

// MARK: - Fetching

extension RequestConvertible {
    /// Runs the request on a client, and waits for its value.
    ///
    /// ```swift
    /// let user = try await Get<User>("users", "1").fetch(on: client)
    /// ```
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: The client; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request.
    public func fetch(on client: HTTPClient = .shared) async throws(Failure) -> Success {
        try await client.fetch(self)
    }

    /// Runs the request on a client, and waits for its value together with the response.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: The client; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: The response, with the value of the request as its body.
    /// - Throws: The failure of the request.
    public func send(on client: HTTPClient = .shared) async throws(Failure) -> HTTPResponse<Success> {
        try await client.send(self)
    }
}

extension HTTPRequest {
    /// Runs the request on a client, and waits for the value decoded from the JSON of the answer.
    ///
    /// ```swift
    /// let todo = try await HTTPRequest("https://api.example.com/todos/1").fetch(Todo.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - client: The client; ``HTTPClient/shared`` by default, which needs an absolute address.
    ///   - decoder: Makes the decoder; by default the client's.
    /// - Returns: The value.
    /// - Throws: The failure of the request.
    public func fetch<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on client: HTTPClient = .shared,
        decoder: (@Sendable () -> JSONDecoder)? = nil
    ) async throws(RequestError) -> Value {
        try await client.fetch(decoding(decoder.map { .json(type, decoder: $0()) } ?? .json))
    }
}

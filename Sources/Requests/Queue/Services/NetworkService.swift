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
/// A service that declares only a base URL uses ``HTTPClient/shared``:
///
/// ```swift
/// struct GitHub: NetworkService { let baseURL = "https://api.github.com" }
/// ```
///
/// The base URL may be a `URL`, a `URL?` or a `String`. If ``baseURL`` or ``client`` has any other type, the service
/// doesn't compile. With an invalid base URL, each request with a relative URL fails.
///
/// To replace the service in tests, declare a protocol that inherits from this protocol.
public protocol NetworkService {
    /// The type of the client, which is always ``HTTPClient``.
    associatedtype ServiceClient = HTTPClient
    /// The type of the base URL: `URL`, `URL?` or `String`.
    associatedtype ServiceBaseURL = URL?

    /// The client of the requests; ``HTTPClient/shared`` by default.
    var client: ServiceClient { get }
    /// The URL that relative URLs are appended to; by default, the base URL of the client.
    var baseURL: ServiceBaseURL { get }

    /// The client that sends the service's requests, with the base URL of the service. Don't implement it.
    var requestQueue: HTTPClient { get }
}

extension NetworkService where ServiceClient == HTTPClient {
    /// The shared client of the process.
    public var client: HTTPClient { .shared }
}

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == URL? {
    /// The base URL of the client.
    public var baseURL: URL? { client.baseURL }

    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: baseURL) }
}

// Both associated types are unconstrained so that a property of the wrong type fails to compile, because there is no
// `requestQueue` for it. With `URL?` and `HTTPClient` as constraints, Swift would silently ignore the property in
// favour of the default.

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == URL {
    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: baseURL) }
}

extension NetworkService where ServiceClient == HTTPClient, ServiceBaseURL == String {
    /// The client, with the base URL of the service.
    public var requestQueue: HTTPClient { client.relocated(to: URL(base: baseURL)) }
}

extension NetworkService {
    /// Runs a request, and returns its value with the response.
    ///
    /// Cancelling the task cancels the operation.
    ///
    /// - Throws: The failure of the request.
    public func send<R: NetworkRequest>(_ request: R) async throws(R.Failure) -> HTTPResponse<R.Success> {
        try await requestQueue.send(request)
    }

    /// Runs a request, and returns its value.
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
    /// The name of the type's alias, such as `Get<User>`, `APIRequest<ExampleAPI, User>`, or `HTTPRequest<User>` for an
    /// `HTTPRequest` with a decoder.
    package static var typeName: String {
        // The name of the type `Void` would be `()`.
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
    /// Runs the request on a client, and returns its value.
    ///
    /// ```swift
    /// let user = try await Get<User>("users", "1").fetch(on: client)
    /// ```
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: The client; by default, ``HTTPClient/shared``, which requires an absolute URL.
    /// - Returns: The value of the request.
    /// - Throws: The failure of the request.
    public func fetch(on client: HTTPClient = .shared) async throws(Failure) -> Success {
        try await client.fetch(self)
    }

    /// Runs the request on a client, and returns its value with the response.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: The client; by default, ``HTTPClient/shared``, which requires an absolute URL.
    /// - Returns: The response, with the value of the request as its body.
    /// - Throws: The failure of the request.
    public func send(on client: HTTPClient = .shared) async throws(Failure) -> HTTPResponse<Success> {
        try await client.send(self)
    }
}

extension HTTPRequest {
    /// Runs the request on a client, and returns a value decoded from the JSON of the response.
    ///
    /// ```swift
    /// let todo = try await HTTPRequest("https://api.example.com/todos/1").fetch(Todo.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - client: The client; by default, ``HTTPClient/shared``, which requires an absolute URL.
    ///   - decoder: Creates the decoder; by default, the client's.
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

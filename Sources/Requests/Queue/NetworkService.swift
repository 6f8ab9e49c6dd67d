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
/// struct GitHub: NetworkService { let baseURL = "https://api.github.com" }
/// ```
///
/// The base URL may be a `URL`, a `URL?` or a `String`. A service whose ``baseURL`` or ``client`` has any other type
/// doesn't compile. One whose base URL is no address fails each request with a relative address.
///
/// Inherit it in a protocol of your own to put a stand-in in the place of the service in tests.
public protocol NetworkService {
    /// The type of the client: always an ``HTTPClient``.
    associatedtype ServiceClient = HTTPClient
    /// The type of the base URL: `URL`, `URL?` or `String`.
    associatedtype ServiceBaseURL = URL?

    /// What runs the requests; ``HTTPClient/shared`` by default.
    var client: ServiceClient { get }
    /// What relative addresses are appended to; by default the base URL of the client.
    var baseURL: ServiceBaseURL { get }

    /// The client as the service's requests use it: with the base URL of the service. Not for you to implement.
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
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        completionQueue: DispatchQueue? = nil,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        requestQueue.addRequest(request, completionQueue: completionQueue, completion: completion)
    }
}

/// An API: where it is, and what all requests to it have in common.
///
/// ```swift
/// enum ExampleAPI: RequestProviding {
///     case development, production
///
///     var baseURL: URL {
///         switch self {
///         case .development: URL(string: "https://dev.example.com/api")!
///         case .production: URL(string: "https://live.example.com/api")!
///         }
///     }
/// }
///
/// let api = ExampleAPI.development
/// let request = api.get(.json(User.self), from: "/user/1")
/// ```
///
/// Implement ``request(to:using:)-(String,_)`` to give every request what the API demands, such as a key.
public protocol RequestProviding: Sendable {
    /// What the paths of requests are appended to; its own path and query are kept.
    var baseURL: URL { get }

    /// Makes the request that all others are made from; by default one that has only the address and the method.
    ///
    /// - Parameters:
    ///   - path: The path of the resource as it is written, with its slashes, a query if it has one, and values escaped.
    ///   - method: The method.
    /// - Returns: A request that ignores the content of the answer; another decoder replaces that.
    func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void>
}

/// A request to an API, which is its tag: extensions can be for the requests of one API only.
public typealias APIRequest<API: RequestProviding, Success: Sendable> = TypedRequest<API, Success>

extension RequestProviding {
    /// Makes a request that has only the address and the method.
    public func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void> {
        APIRequest(HTTPRequest(path: path, relativeTo: baseURL, method: method), decoding: .none)
    }
}

extension RequestProviding {
    /// Makes a request that gets a resource.
    public func get<Value>(_ decoder: ResponseDecoder<Value>, from path: RequestPath) -> APIRequest<Self, Value> {
        request(at: path, using: .get).decoding(decoder)
    }

    /// Makes a request that gets a resource for its effect, or to be decoded later.
    public func get(_ path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .get)
    }

    /// Makes a request that posts content, and ignores the content of the answer unless it is given a decoder:
    /// ``TypedRequest/decoding(_:)``.
    public func post(_ body: HTTPBody, to path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .post).body(body)
    }

    /// Makes a request that replaces a resource, and ignores the content of the answer unless it is given a decoder:
    /// ``TypedRequest/decoding(_:)``.
    public func put(_ body: HTTPBody, to path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .put).body(body)
    }

    /// Makes a request that changes a part of a resource, and ignores the content of the answer unless it is given a
    /// decoder: ``TypedRequest/decoding(_:)``.
    public func patch(_ path: RequestPath, with body: HTTPBody) -> APIRequest<Self, Void> {
        request(at: path, using: .patch).body(body)
    }

    /// Makes a request that removes a resource.
    public func delete(_ path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .delete)
    }

    /// Makes a request for what a get would bring, without the content.
    public func head(_ path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .head)
    }

    /// Makes a request for the options that a resource offers.
    public func options(_ path: RequestPath) -> APIRequest<Self, Void> {
        request(at: path, using: .options)
    }

    /// Makes a request for a path in which no value is more than one piece.
    private func request(at path: RequestPath, using method: HTTPMethod) -> APIRequest<Self, Void> {
        var request = request(to: path.text, using: method)
        if let failure = path.failure { request.http.address = .invalid(failure) }
        return request
    }
}

/// An API that needs no type of its own: a base URL, and nothing else that its requests have in common.
///
/// ```swift
/// let api = AnonymousRequestProvider(baseURL: server)
/// let robots = api.get(.text, from: "/robots.txt")
/// ```
public struct AnonymousRequestProvider: RequestProviding, Hashable {
    /// What the paths of requests are appended to.
    public let baseURL: URL

    /// Makes a provider for a base URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }
}

// MARK: - Type name

extension TypedRequest: NamedRequestType {
    /// The alias that the type is written by: `Get<User>`, `APIRequest<ExampleAPI, User>`; `HTTPRequest<User>` for an
    /// `HTTPRequest` that decodes its response.
    static var typeName: String {
        // The type of no value is `()` by itself.
        let success = Success.self == Void.self ? "Void" : "\(Success.self)"
        return switch Tag.self {
        case is any RequestMethod.Type: "\(Tag.self)<\(success)>"
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
    /// - Parameter client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: What came of the request.
    /// - Throws: The failure of the request.
    public func fetch(on client: HTTPClient = .shared) async throws(Failure) -> Success {
        try await client.fetch(self)
    }

    /// Runs the request on a client, and waits for its value together with the response that it was made of.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: The response, with what came of the request as its body.
    /// - Throws: The failure of the request.
    public func send(on client: HTTPClient = .shared) async throws(Failure) -> HTTPResponse<Success> {
        try await client.send(self)
    }
}

extension HTTPRequest {
    /// Runs the request on a client, and waits for the value that the JSON of the answer says.
    ///
    /// ```swift
    /// let todo = try await HTTPRequest("https://api.example.com/todos/1").fetch(Todo.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: What the content decodes to.
    ///   - client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An API: its base URL, and the settings that all of its requests share.
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
/// Implement ``request(to:using:)-(String,_)`` to add settings that the API requires, such as a key.
public protocol RequestProviding: Sendable {
    /// The URL that the paths of requests are appended to; its own path and query are kept.
    var baseURL: URL { get }

    /// Creates the request from which all other requests are derived; by default, it has only the URL and the method.
    ///
    /// - Parameters:
    ///   - path: The path of the resource, including its slashes and, if present, its query. Values must be escaped.
    ///   - method: The method.
    /// - Returns: A request that ignores the content of the response. The other methods may replace its decoder.
    func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void>
}

/// A request to an API, whose type is the tag, so that extensions can apply to the requests of one API only.
public typealias APIRequest<API: RequestProviding, Success: Sendable> = TypedRequest<API, Success>

extension RequestProviding {
    /// Creates a request with only the URL and the method.
    public func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void> {
        APIRequest(HTTPRequest(path: path, relativeTo: baseURL, method: method), decoding: .none)
    }
}

extension RequestProviding {
    /// Creates a GET request with a decoder for the response.
    public func get<Value>(_ decoder: ResponseDecoder<Value>, from path: HTTPRequest.Path) -> APIRequest<Self, Value> {
        request(at: path, using: .get).decoding(decoder)
    }

    /// Creates a GET request without a decoder, which you can add later.
    public func get(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .get) }

    /// Creates a POST request, which ignores the content of the response unless you add a decoder with
    /// ``TypedRequest/decoding(_:)``.
    public func post(_ body: HTTPBody, to path: HTTPRequest.Path) -> APIRequest<Self, Void> {
        request(at: path, using: .post).body(body)
    }

    /// Creates a PUT request, which ignores the content of the response unless you add a decoder with
    /// ``TypedRequest/decoding(_:)``.
    public func put(_ body: HTTPBody, to path: HTTPRequest.Path) -> APIRequest<Self, Void> {
        request(at: path, using: .put).body(body)
    }

    /// Creates a PATCH request, which ignores the content of the response unless you add a decoder with
    /// ``TypedRequest/decoding(_:)``.
    public func patch(_ path: HTTPRequest.Path, with body: HTTPBody) -> APIRequest<Self, Void> {
        request(at: path, using: .patch).body(body)
    }

    /// Creates a DELETE request.
    public func delete(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .delete) }

    /// Creates a HEAD request, for the head of a response without its content.
    public func head(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .head) }

    /// Creates an OPTIONS request, which queries the methods and options that a resource supports.
    public func options(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .options) }

    /// Creates a request for a path whose values are already escaped.
    private func request(at path: HTTPRequest.Path, using method: HTTPMethod) -> APIRequest<Self, Void> {
        var request = request(to: path.text, using: method)
        if let failure = path.failure { request.http.fields.address = .invalid(failure) }
        return request
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An API: its base URL, and the common settings of all its requests.
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

    /// Makes the request that all others are derived from; by default with only the address and the method.
    ///
    /// - Parameters:
    ///   - path: The path of the resource, with its slashes, and a query if it has one; values must be escaped.
    ///   - method: The method.
    /// - Returns: A request that ignores the content of the answer; another decoder replaces that.
    func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void>
}

/// A request to an API, which is its tag, so that extensions can apply to the requests of one API only.
public typealias APIRequest<API: RequestProviding, Success: Sendable> = TypedRequest<API, Success>

extension RequestProviding {
    /// Makes a request with only the address and the method.
    public func request(to path: String, using method: HTTPMethod) -> APIRequest<Self, Void> {
        APIRequest(HTTPRequest(path: path, relativeTo: baseURL, method: method), decoding: .none)
    }
}

extension RequestProviding {
    /// Makes a request that gets a resource.
    public func get<Value>(_ decoder: ResponseDecoder<Value>, from path: HTTPRequest.Path) -> APIRequest<Self, Value> {
        request(at: path, using: .get).decoding(decoder)
    }

    /// Makes a request that gets a resource without decoding it; a decoder can be added later.
    public func get(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .get) }

    /// Makes a request that posts content, and ignores the content of the answer unless a decoder is added:
    /// ``TypedRequest/decoding(_:)``.
    public func post(_ body: HTTPBody, to path: HTTPRequest.Path) -> APIRequest<Self, Void> {
        request(at: path, using: .post).body(body)
    }

    /// Makes a request that replaces a resource, and ignores the content of the answer unless a decoder is added:
    /// ``TypedRequest/decoding(_:)``.
    public func put(_ body: HTTPBody, to path: HTTPRequest.Path) -> APIRequest<Self, Void> {
        request(at: path, using: .put).body(body)
    }

    /// Makes a request that changes a part of a resource, and ignores the content of the answer unless a decoder is
    /// added: ``TypedRequest/decoding(_:)``.
    public func patch(_ path: HTTPRequest.Path, with body: HTTPBody) -> APIRequest<Self, Void> {
        request(at: path, using: .patch).body(body)
    }

    /// Makes a request that removes a resource.
    public func delete(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .delete) }

    /// Makes a request for the head of a resource, without its content.
    public func head(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .head) }

    /// Makes a request for the options that a resource offers.
    public func options(_ path: HTTPRequest.Path) -> APIRequest<Self, Void> { request(at: path, using: .options) }

    /// Makes a request for a path in which each value is one piece.
    private func request(at path: HTTPRequest.Path, using method: HTTPMethod) -> APIRequest<Self, Void> {
        var request = request(to: path.text, using: method)
        if let failure = path.failure { request.http.fields.address = .invalid(failure) }
        return request
    }
}

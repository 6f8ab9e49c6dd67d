// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
    ///   - path: The path of the resource, with its slashes, and a query if it has one.
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
    public func get<Value>(_ decoder: ResponseDecoder<Value>, from path: String) -> APIRequest<Self, Value> {
        request(to: path, using: .get).decoding(decoder)
    }

    /// Makes a request that gets a resource for its effect, or to be decoded later.
    public func get(_ path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .get)
    }

    /// Makes a request that posts content, and ignores the content of the answer unless it is given a decoder:
    /// ``TypedRequest/decoding(_:)``.
    public func post(_ body: HTTPBody, to path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .post).body(body)
    }

    /// Makes a request that replaces a resource, and ignores the content of the answer unless it is given a decoder:
    /// ``TypedRequest/decoding(_:)``.
    public func put(_ body: HTTPBody, to path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .put).body(body)
    }

    /// Makes a request that changes a part of a resource, and ignores the content of the answer unless it is given a
    /// decoder: ``TypedRequest/decoding(_:)``.
    public func patch(_ path: String, with body: HTTPBody) -> APIRequest<Self, Void> {
        request(to: path, using: .patch).body(body)
    }

    /// Makes a request that removes a resource.
    public func delete(_ path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .delete)
    }

    /// Makes a request for what a get would bring, without the content.
    public func head(_ path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .head)
    }

    /// Makes a request for the options that a resource offers.
    public func options(_ path: String) -> APIRequest<Self, Void> {
        request(to: path, using: .options)
    }
}

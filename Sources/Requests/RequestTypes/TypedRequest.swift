// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A ready-made request, with the request to send, the decoder of the response, and options that override the
/// environment.
///
/// You rarely write this name. ``Get`` to ``Options`` are typed requests for one method each, and a
/// ``RequestProviding`` type creates the requests of an API:
///
/// ```swift
/// let request = Get<User>("users/\(id)")
///     .headers { Accept(.json) }
///     .query(["include": "profile"])
///     .timeout(.seconds(10))
/// let user = try await queue.fetch(request)
/// ```
///
/// A typed request is a value, and every modifier returns a changed copy. `Tag` distinguishes kinds of requests, so
/// that an extension can apply to only one kind.
public struct TypedRequest<Tag, Success: Sendable>: RequestConvertible, ModifiableRequest {
    /// The library's error type.
    public typealias Failure = RequestError

    /// The request to send.
    public var http: HTTPRequest
    /// The decoder of the response.
    public var responseDecoder: ResponseDecoder<Success>
    /// The options, which override the environment's options.
    public var options: RequestOptions
    /// The accepted statuses; 200 to 299 by default.
    public var validHTTPStatusCodes: [Int] {
        get { options.validStatusCodes ?? successfulStatusCodes }
        set { options.validStatusCodes = newValue }
    }

    /// Creates a request from its parts.
    public init(_ http: HTTPRequest, decoding responseDecoder: ResponseDecoder<Success>) {
        self.http = http
        self.responseDecoder = responseDecoder
        options = self.http.detachOptions()
    }

    /// Changes the request to send.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change(&http)
    }
}

extension TypedRequest {
    /// Returns the same request with another decoder for the response.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<Tag, Value> {
        var request = TypedRequest<Tag, Value>(http, decoding: decoder)
        request.options = options
        return request
    }
}

extension TypedRequest: CustomStringConvertible {
    /// The method and the URL, without credentials or query, so the description contains no secrets.
    public var description: String { http.description }
}

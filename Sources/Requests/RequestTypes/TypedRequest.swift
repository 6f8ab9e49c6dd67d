// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A ready-made request: what to send, what to make of the answer, and what to override of the environment.
///
/// It is seldom written by this name. ``Get`` to ``Options`` are typed requests for one method each, and a
/// ``RequestProviding`` type makes those of an API:
///
/// ```swift
/// let request = Get<User>("users/\(id)")
///     .headers { Accept(.json) }
///     .query(["include": "profile"])
///     .timeout(.seconds(10))
/// let user = try await queue.fetch(request)
/// ```
///
/// A value: every modifier makes a changed copy. `Tag` tells kinds of requests apart, so that extensions can be for
/// one of them only.
public struct TypedRequest<Tag, Success: Sendable>: RequestConvertible, ModifiableRequest {
    /// The library's own error.
    public typealias Failure = RequestError

    /// The request to send.
    public var http: HTTPRequest
    /// The decoder of the answer.
    public var responseDecoder: ResponseDecoder<Success>
    /// The options that override those of the environment.
    public var options: RequestOptions
    /// The accepted statuses; 200 to 299 by default.
    public var validHTTPStatusCodes: [Int] {
        get { options.validStatusCodes ?? successfulStatusCodes }
        set { options.validStatusCodes = newValue }
    }

    /// Makes a request of its parts.
    public init(_ http: HTTPRequest, decoding responseDecoder: ResponseDecoder<Success>) {
        self.http = http
        self.responseDecoder = responseDecoder
        options = self.http.detachOptions()
    }

    /// Changes what is sent.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change(&http)
    }
}

extension TypedRequest {
    /// The same request, with another way to make a value of the answer.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<Tag, Value> {
        var request = TypedRequest<Tag, Value>(http, decoding: decoder)
        request.options = options
        return request
    }
}

extension TypedRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: nothing in it is a secret.
    public var description: String { http.description }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A response: what the server answered, with the content as `Body`.
public struct HTTPResponse<Body> {
    /// The status and the headers.
    public let head: HTTPResponseHead
    /// The content.
    public let body: Body
    /// What was sent on the way to this response: the first try, redirects and retries, in their order.
    public let attempts: [Attempt]

    /// Makes a response.
    public init(head: HTTPResponseHead, body: Body, attempts: [Attempt] = []) {
        self.head = head
        self.body = body
        self.attempts = attempts
    }

    /// The status.
    public var status: HTTPStatus { head.status }
    /// The header fields.
    public var headers: HTTPHeaders { head.headers }
    /// The address that answered, which after a redirect isn't the one that was asked.
    public var url: URL? { head.url }
    /// What the attempt took that brought the response; those before it are among the ``attempts``.
    public var metrics: Metrics? { attempts.last?.metrics }

    /// The same response with another content, made from this one's.
    ///
    /// - Throws: What `transform` throws.
    public func map<NewBody, Failure: Error>(
        _ transform: (Body) throws(Failure) -> NewBody
    ) throws(Failure) -> HTTPResponse<NewBody> {
        HTTPResponse<NewBody>(head: head, body: try transform(body), attempts: attempts)
    }
}

extension HTTPResponse: Sendable where Body: Sendable {}

extension HTTPResponse<Data> {
    /// The content, decoded from JSON.
    ///
    /// - Throws: What the decoder throws.
    public func decodeJSON<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// The head and the content, in a line; the content is shown as it describes itself.
    public var description: String { "\(head): \(body)" }
}

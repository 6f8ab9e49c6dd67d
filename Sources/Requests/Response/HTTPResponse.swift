// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A response from the server, with its content as `Body`.
public struct HTTPResponse<Body> {
    /// The status and the headers.
    public var head: HTTPResponseHead
    /// The content.
    public var body: Body
    /// The transfers up to this response, in order: the first transfer, redirects and retries.
    ///
    /// If there are more than 100, only the first and the last 99 are kept.
    public var transfers: [TransferRecord] { notes.history.records }
    var notes: ResponseNotes

    /// Creates a response.
    public init(head: HTTPResponseHead, body: Body, transfers: [TransferRecord] = []) {
        self.init(head: head, body: body, notes: ResponseNotes(history: TransferHistory(transfers)))
    }

    init(head: HTTPResponseHead, body: Body, notes: ResponseNotes) {
        self.head = head
        self.body = body
        self.notes = notes
    }

    /// The status.
    public var status: HTTPStatus { head.status }
    /// The header fields.
    public var headers: HTTPHeaders { head.headers }
    /// The URL of the resource that responded.
    ///
    /// After a redirect, it differs from the requested URL.
    public var url: URL? { head.url }
    /// The metrics of the transfer that received the response.
    ///
    /// The metrics of earlier transfers are in ``transfers``.
    public var metrics: TransferRecord.Metrics? { notes.history.last?.metrics }

    /// Adopts metadata that this response lacks from the response that it replaces.
    ///
    /// A response created by hand has neither transfers nor the environment's decoder.
    mutating func inherit(_ other: HTTPResponse<some Any>) {
        if notes.history.isEmpty { notes.history = other.notes.history }
        notes.makeDecoder = notes.makeDecoder ?? other.notes.makeDecoder
    }

    /// Returns the same response with its content transformed by a closure.
    ///
    /// - Throws: Any error that `transform` throws.
    public func map<NewBody, Failure: Error>(
        _ transform: (Body) throws(Failure) -> NewBody
    ) throws(Failure) -> HTTPResponse<NewBody> {
        HTTPResponse<NewBody>(head: head, body: try transform(body), notes: notes)
    }
}

extension HTTPResponse: Sendable where Body: Sendable {}

extension HTTPResponse<Data> {
    /// Decodes the content from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder; `nil`, the default, uses the decoder of the environment in which the request ran.
    /// - Returns: The value.
    /// - Throws: Any error that the decoder throws.
    public func decodeJSON<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder? = nil) throws -> Value {
        try (decoder ?? jsonDecoder).decode(type, from: body)
    }

    /// The decoder of the environment in which the request ran, or a default decoder if the response was created by
    /// hand.
    var jsonDecoder: JSONDecoder { notes.makeDecoder?() ?? JSONDecoder() }

    /// Decodes the content as text, in the charset that the response declares, or in UTF-8 by default.
    ///
    /// - Throws: A ``RequestError`` with the code `decoding` if the content isn't valid in that charset, or if the
    ///   platform doesn't support the charset. No characters are replaced or omitted.
    public func text() throws(RequestError) -> String {
        guard let charset = (try? head[.contentType].map(MediaType.init(parsing:)))??.charset else {
            return try text(encoding: .utf8)
        }
        guard let encoding = String.Encoding(charset: charset) else {
            throw RequestError(.decoding, phase: .decoding, reason: "the charset “\(charset.shortened())” is unknown")
        }
        return try text(encoding: encoding)
    }

    /// Decodes the content as text in the given encoding, whatever charset the response declares.
    ///
    /// - Throws: A ``RequestError`` with the code `decoding` if the content isn't valid in that encoding.
    public func text(encoding: String.Encoding) throws(RequestError) -> String {
        guard let text = String(data: body, encoding: encoding) else {
            throw RequestError(.decoding, phase: .decoding, reason: "the content isn't valid text in \(encoding)")
        }
        return text
    }
}

extension HTTPResponse {
    /// The links in the header, in their order (RFC 8288).
    public var links: [HTTPField.Link] { head.links }

    /// Returns the URL of the first link with a relation type; see ``HTTPResponseHead/link(_:)``.
    public func link(_ relation: String) -> URL? { head.link(relation) }
}

extension HTTPResponse: CustomStringConvertible {
    /// The head and the content's own description, in one line.
    public var description: String { "\(head): \(body)" }
}

/// A response as it passes back through the interceptor chain.
typealias RawResponse = HTTPResponse<ResponseContent>

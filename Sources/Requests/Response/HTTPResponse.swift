// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A response: the server's answer, with the content as `Body`.
public struct HTTPResponse<Body> {
    /// The status and the headers.
    public var head: HTTPResponseHead
    /// The content.
    public var body: Body
    /// The transfers up to this response: the first one, redirects and retries, in their order.
    ///
    /// Of more than 100, it has the first one and the last 99.
    public var transfers: [TransferRecord] { notes.history.records }
    var notes: ResponseNotes

    /// Makes a response.
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
    /// The address of the responding resource; after a redirect, it differs from the requested one.
    public var url: URL? { head.url }
    /// The metrics of the transfer that brought the response; those of earlier ones are in the ``transfers``.
    public var metrics: TransferRecord.Metrics? { notes.history.last?.metrics }

    /// Takes missing parts from the response that it replaces: one that is made by hand has neither transfers nor the
    /// decoder of the environment.
    mutating func inherit(_ other: HTTPResponse<some Any>) {
        if notes.history.isEmpty { notes.history = other.notes.history }
        notes.makeDecoder = notes.makeDecoder ?? other.notes.makeDecoder
    }

    /// Returns the same response with another content, made from this one's.
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
    /// The content, decoded from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder; `nil`, the default, is the decoder of the environment that the request ran in.
    /// - Returns: The value.
    /// - Throws: Any error that the decoder throws.
    public func decodeJSON<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder? = nil) throws -> Value {
        try (decoder ?? jsonDecoder).decode(type, from: body)
    }

    /// The decoder of the environment that the request ran in; a plain one if the response was made by hand.
    var jsonDecoder: JSONDecoder { notes.makeDecoder?() ?? JSONDecoder() }

    /// The content as text, in the charset that the response names, or else in UTF-8.
    ///
    /// - Throws: A ``RequestError`` of code `decoding` if the content isn't text in that charset, or the platform
    ///   doesn't know it. Nothing is replaced or left out.
    public func text() throws(RequestError) -> String {
        guard let charset = (try? head[.contentType].map(MediaType.init(parsing:)))??.charset else {
            return try text(encoding: .utf8)
        }
        guard let encoding = String.Encoding(charset: charset) else {
            throw RequestError(.decoding, phase: .decoding, reason: "the charset “\(charset.shortened())” is unknown")
        }
        return try text(encoding: encoding)
    }

    /// The content as text in an encoding, whatever the response says.
    ///
    /// - Throws: A ``RequestError`` of code `decoding` if the content isn't text in that encoding.
    public func text(encoding: String.Encoding) throws(RequestError) -> String {
        guard let text = String(data: body, encoding: encoding) else {
            throw RequestError(.decoding, phase: .decoding, reason: "the content isn't text in \(encoding)")
        }
        return text
    }
}

extension HTTPResponse {
    /// The links in the header, in their order (RFC 8288).
    public var links: [HTTPField.Link] { head.links }

    /// The address of the first link of a kind; see ``HTTPResponseHead/link(_:)``.
    public func link(_ relation: String) -> URL? { head.link(relation) }
}

extension HTTPResponse: CustomStringConvertible {
    /// The head and the content, in a line; the content is shown by its own description.
    public var description: String { "\(head): \(body)" }
}

/// A response on its way back through the chain.
typealias RawResponse = HTTPResponse<ResponseContent>

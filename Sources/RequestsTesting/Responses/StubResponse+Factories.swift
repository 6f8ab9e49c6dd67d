// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// Creates a response with a status, and optionally header fields and content.
    ///
    /// `Content-Length` is added, unless the headers already contain that field, right or wrong, or
    /// `Transfer-Encoding`. The content isn't sent in response to a `HEAD`, nor with the statuses 1xx, 204 and 304.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) -> StubResponse {
        StubResponse(status: status, headers: headers, content: .data(body))
    }

    /// A response with the status 204 (No Content).
    public static var noContent: StubResponse { .status(.noContent) }

    /// Creates a redirect to an absolute or relative location, which is sent verbatim.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> StubResponse {
        .status(status, headers: [.location: location])
    }

    /// Creates a response with bytes of a media type; a `Content-Type` among the headers overrides `type`.
    public static func data(
        _ data: Data,
        type: MediaType = .octetStream,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        content(.data(data), type, status, headers)
    }

    /// Creates a response with UTF-8 text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - type: The media type; plain text by default.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `type`.
    /// - Returns: The response.
    public static func text(
        _ text: String,
        type: MediaType = "text/plain; charset=utf-8",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        content(.data(Data(text.utf8)), type, status, headers)
    }

    /// Creates a response with the bytes of a file, which is read when the response is sent.
    ///
    /// If the file can't be read, the request fails.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - type: The media type; by default, the media type of the file extension, or `application/octet-stream` for an
    ///     unknown extension.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `type`.
    /// - Returns: The response.
    public static func file(
        _ url: URL,
        type: MediaType? = nil,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        let type = type ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream
        return content(.deferred { try Data(contentsOf: url) }, type, status, headers)
    }

    private static func content(
        _ content: Content,
        _ type: MediaType,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
    ) -> StubResponse {
        var fields: HTTPHeaders = [.contentType: type.rawValue]
        fields.merge(headers)
        return StubResponse(status: status, headers: fields, content: content)
    }
}

// MARK: - JSON

extension StubResponse {
    /// Creates a response with a string of JSON, which is sent verbatim, even if it is invalid.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> StubResponse {
        content(.data(Data(text.utf8)), .json, status, headers)
    }

    /// Creates a response with a JSON literal, which may be nested, mix types, and include values that aren't literals.
    ///
    /// ```swift
    /// stubber.stub(.get, "/users/7").respond(with: .json(["id": 7, "name": .value(name), "tags": []]))
    /// ```
    ///
    /// The names are sorted, so that equal values are always encoded as the same bytes.
    ///
    /// - Parameters:
    ///   - literal: The literal; wrap values that aren't literals in `value(_:)`. If an object repeats a name, the
    ///     request fails with the code `encoding`.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `application/json`.
    /// - Returns: The response.
    public static func json(
        _ literal: JSONValue.Literal,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        json(encoding: literal, status, headers)
    }

    /// Creates a response with a JSON object from a flat literal, whose values may have any `Encodable` types.
    ///
    /// - Parameters:
    ///   - members: The members. If a name is repeated, the request fails with the code `encoding`.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `application/json`.
    ///   - encoder: The encoder; by default, an encoder that sorts the keys.
    /// - Returns: The response.
    public static func json(
        _ members: JSONValue.Members,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [],
        encoder: JSONEncoder? = nil
    ) -> StubResponse {
        json(encoding: JSONValue.Literal(members), status, headers, encoder)
    }

    /// Rejects a literal whose values have different types; the compiler error explains how to write it.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .json(["a": .value(x), "b": ["c": 1]])
            """
    )
    public static func json(
        _ object: [String: Any?],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse { .noContent }

    /// Rejects a literal whose values have different types; the compiler error explains how to write it.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .json([["a": .value(x)], 1])
            """
    )
    public static func json(
        _ elements: [Any?],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse { .noContent }

    /// Creates a response with a value, encoded as JSON.
    ///
    /// A `String` is sent verbatim, as JSON that is already encoded. If the value can't be encoded, the request fails
    /// with the code `encoding`.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `application/json`.
    ///   - encoder: The encoder; by default, an encoder that sorts the keys.
    /// - Returns: The response.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [],
        encoder: JSONEncoder? = nil
    ) -> StubResponse {
        json(encoding: value, status, headers, encoder)
    }

    private static func json(
        encoding value: some Encodable,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ encoder: JSONEncoder? = nil
    ) -> StubResponse {
        do {
            return content(.data(try (encoder ?? HTTPBody.sortingEncoder).encode(value)), .json, status, headers)
        } catch {
            return content(.deferred { throw error }, .json, status, headers)
        }
    }
}

// MARK: - Chunks

extension StubResponse {
    /// Creates a response in the `chunked` coding, which delivers each chunk separately, followed by the trailers.
    public static func chunked(
        _ chunks: [Data],
        trailers: HTTPHeaders = [],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        var fields = headers
        if !fields.contains(.transferEncoding) { fields.add("chunked", for: .transferEncoding) }
        return StubResponse(status: status, headers: fields, content: .chunks(chunks, trailers: trailers))
    }
}

// MARK: - Server-sent events

extension StubResponse {
    /// Creates a stream of server-sent events, which delivers each event separately and then ends.
    ///
    /// ```swift
    /// stubber.stub(.post, "/chat").respond(with: .events([#"{"text": "Hel"}"#, #"{"text": "lo"}"#, "[DONE]"]))
    /// ```
    ///
    /// - Parameters:
    ///   - events: The events. A string is the data of an event of type `message`.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them overrides `text/event-stream`.
    /// - Returns: The response.
    public static func events(
        _ events: [ServerSentEvent],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        var fields: HTTPHeaders = [.contentType: MediaType.eventStream.rawValue]
        fields.merge(headers)
        return .chunked(events.map(\.serialized), status: status, headers: fields)
    }
}

// MARK: - Echo

extension StubResponse {
    /// A response with the status 200 that echoes the content of the request, and the fields that describe it.
    public static var echo: StubResponse { StubResponse(status: .ok, content: .echo) }
}

// MARK: - Failures

extension StubResponse {
    /// Creates a failure instead of a response; a `URLError` becomes the `RequestError` that a network would report.
    public static func failure(_ error: any Error) -> StubResponse {
        StubResponse(status: nil).adding(.fail(RequestError(error)), at: Event.start)
    }

    /// Creates a failure with an error code of Foundation, such as `.notConnectedToInternet`.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .failure(URLError(code))
    }

    /// A failure because there is no network connection.
    public static var offline: StubResponse { .failure(.notConnectedToInternet) }

    /// A failure because the connection is closed without a response.
    public static var closed: StubResponse { StubResponse(status: nil).adding(.close, at: Event.start) }

    /// A failure because the connection is reset without a response.
    public static var reset: StubResponse { StubResponse(status: nil).adding(.reset, at: Event.start) }

    /// A response that never arrives; the request ends only when the client disconnects.
    public static var never: StubResponse { StubResponse(status: nil).adding(.stall, at: Event.start) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// A status, with header fields and content if there are any.
    ///
    /// The length of the content is added, unless the headers have a `Content-Length`, right or wrong, or a
    /// `Transfer-Encoding`. The answer to a `HEAD`, 1xx, 204 and 304 come without content.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) -> StubResponse {
        StubResponse(status: status, headers: headers, content: .data(body))
    }

    /// 204 No Content.
    public static var noContent: StubResponse { .status(.noContent) }

    /// A redirect to a location, absolute or relative, which is sent as it is given.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> StubResponse {
        .status(status, headers: [.location: location])
    }

    /// Bytes of a media type; a `Content-Type` among the headers wins.
    public static func data(
        _ data: Data,
        type: MediaType = .octetStream,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        content(.data(data), type, status, headers)
    }

    /// Text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - type: The media type; plain text by default.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
    /// - Returns: The response.
    public static func text(
        _ text: String,
        type: MediaType = "text/plain; charset=utf-8",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        content(.data(Data(text.utf8)), type, status, headers)
    }

    /// The bytes of a file, read when the response is sent.
    ///
    /// A file that can't be read is an error of the request.
    ///
    /// - Parameters:
    ///   - url: The address of the file.
    ///   - type: The media type; by default the one of its extension, or else any bytes.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
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
    /// JSON, as it is given, correct or not.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> StubResponse {
        content(.data(Data(text.utf8)), .json, status, headers)
    }

    /// JSON as a literal: nested, of any mixture of kinds, and with values that are known at run time.
    ///
    /// ```swift
    /// stubber.stub(.get, "/users/7").respond(with: .json(["id": 7, "name": .value(name), "tags": []]))
    /// ```
    ///
    /// The names are sorted, so that the same value is always the same bytes.
    ///
    /// - Parameters:
    ///   - literal: The literal; values that aren't literals are in `value(_:)`. Two equal names in an object are an
    ///     error of the request, with the code `encoding`.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
    /// - Returns: The response.
    public static func json(
        _ literal: JSONValue.Literal,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        json(encoding: literal, status, headers)
    }

    /// A JSON object as a literal without nested literals, with values of any `Encodable` types.
    ///
    /// - Parameters:
    ///   - members: The members. Two equal names are an error of the request, with the code `encoding`.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
    ///   - encoder: The encoder; by default one that sorts the keys.
    /// - Returns: The response.
    public static func json(
        _ members: JSONValue.Members,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [],
        encoder: JSONEncoder? = nil
    ) -> StubResponse {
        json(encoding: JSONValue.Literal(members), status, headers, encoder)
    }

    /// Refuses a literal of values of different types.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .json(["a": .value(x), "b": ["c": 1]])
            """
    )
    public static func json(
        _ object: [String: Any?],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse { .noContent }

    /// Refuses a literal of values of different types.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .json([["a": .value(x)], 1])
            """
    )
    public static func json(
        _ elements: [Any?],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse { .noContent }

    /// The value as JSON.
    ///
    /// A `String` is taken for JSON that is already written, by the other form of this. A value that can't be encoded
    /// is an error of the request, of code `encoding`.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
    ///   - encoder: The encoder; by default one that sorts the keys.
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
    /// Content in chunks, each delivered on its own, with fields behind the last.
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
    /// A stream of server-sent events, each delivered on its own, which then ends.
    ///
    /// ```swift
    /// stubber.stub(.post, "/chat").respond(with: .events([#"{"text": "Hel"}"#, #"{"text": "lo"}"#, "[DONE]"]))
    /// ```
    ///
    /// - Parameters:
    ///   - events: The events. A string is an event of the type `message` with this content.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields; a `Content-Type` among them wins.
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
    /// The content of the request, with the fields that describe it, and 200.
    public static var echo: StubResponse { StubResponse(status: .ok, content: .echo) }
}

// MARK: - Failures

extension StubResponse {
    /// No response, but an error; a `URLError` becomes the `RequestError` that a network would give.
    public static func failure(_ error: any Error) -> StubResponse {
        StubResponse(status: nil).adding(.fail(RequestError(error)), at: Event.start)
    }

    /// No response, but an error of a code of Foundation's, such as `.notConnectedToInternet`.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .failure(URLError(code))
    }

    /// No response: there is no network.
    public static var offline: StubResponse { .failure(.notConnectedToInternet) }

    /// No response: the connection is closed instead.
    public static var closed: StubResponse { StubResponse(status: nil).adding(.close, at: Event.start) }

    /// No response: the connection is reset instead.
    public static var reset: StubResponse { StubResponse(status: nil).adding(.reset, at: Event.start) }

    /// Nothing, until the client leaves.
    public static var never: StubResponse { StubResponse(status: nil).adding(.stall, at: Event.start) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension MockResponse {
    /// A status, with header fields and a body where there are any.
    ///
    /// The length is added unless the headers have a `Content-Length`, right or wrong, or a `Transfer-Encoding`.
    /// A `HEAD` is answered with the head alone; 1xx, 204 and 304 never carry a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()) -> MockResponse {
        .message(ResponseHead(status: status, headers: headers, length: body.count), body: [body])
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> MockResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// JSON, as it is given: nobody looks whether it is correct.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> MockResponse {
        .data(Data(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// The value as JSON, with its keys sorted.
    ///
    /// A `String` is taken for JSON that is already written, by the other form of this.
    ///
    /// - Throws: What the value throws when it is encoded.
    public static func json(
        _ value: some Encodable,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .data(try encoder.encode(value), type: "application/json", status: status, headers: headers)
    }

    /// Bytes of a media type; a `Content-Type` among the headers wins.
    public static func data(
        _ data: Data,
        type: String = "application/octet-stream",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> MockResponse {
        var fields: HTTPHeaders = [.contentType: type]
        fields.merge(headers)
        return .status(status, headers: fields, body: data)
    }

    /// 204 No Content.
    public static var noContent: MockResponse { .status(.noContent) }

    /// A redirect to a location, absolute or relative, which is sent as it is given.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> MockResponse {
        .status(status, headers: [.location: location])
    }

    /// A body in chunks, each sent in a write of its own, with fields behind the last.
    public static func chunked(
        _ chunks: [Data],
        trailers: HTTPHeaders = [:],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> MockResponse {
        var fields = headers
        if !fields.contains(.transferEncoding) { fields.add("chunked", for: .transferEncoding) }
        // An empty chunk would be the last one.
        var pieces = chunks.filter { !$0.isEmpty }.map { chunk in
            Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
        pieces.append(Data("0\r\n\(trailers.wireText)\r\n".utf8))
        return .message(ResponseHead(status: status, headers: fields, length: nil), body: pieces)
    }

    /// A body in chunks of a size, the last of which may be smaller, with fields behind the last.
    ///
    /// - Parameters:
    ///   - body: The content.
    ///   - chunkSize: How many bytes a chunk has; less than 1 counts as 1.
    ///   - trailers: The fields behind the last chunk; none by default.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields, besides `Transfer-Encoding`.
    /// - Returns: The response; without content it is the last chunk alone.
    public static func chunked(
        _ body: Data,
        chunkSize: Int,
        trailers: HTTPHeaders = [:],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> MockResponse {
        let size = max(1, chunkSize)
        let chunks = stride(from: 0, to: body.count, by: size).map { Data(body.dropFirst($0).prefix(size)) }
        return .chunked(chunks, trailers: trailers, status: status, headers: headers)
    }

    /// What was received, as JSON: `method`, `target`, `headers` (repeated fields joined) and `body` (as text).
    public static var echo: MockResponse {
        MockResponse { request, closes in
            let response = try? MockResponse.json(Echo(request))
            return (response ?? .status(.internalServerError)).render(request, closes)
        }
    }

    private struct Echo: Encodable {
        var method: String
        var target: String
        var headers: [String: String]
        var body: String

        init(_ request: RecordedRequest) {
            (method, target, body) = (request.method.rawValue, request.target, request.text)
            headers = Dictionary(
                request.headers.map { ($0.name.rawValue, $0.value) },
                uniquingKeysWith: { "\($0), \($1)" }
            )
        }
    }
}

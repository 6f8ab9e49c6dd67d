// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The response of a ``MockServer`` to a request: a script of bytes, pauses and endings.
///
/// Most responses are made by a factory and modified by a fault:
///
/// ```swift
/// .json(#"{"name":"Pancakes"}"#)
/// .text("late").delayed(by: .seconds(1))
/// .data(image, type: "image/png").truncated(after: 100)
/// ```
///
/// If no factory fits, write the script: each ``Step/send(_:)`` is one write, and nothing is added to it.
///
/// ```swift
/// .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Len".utf8)), .pause(.milliseconds(5)), .reset])
/// ```
///
/// A response is a value: it can be shared by servers and threads, and used any number of times.
public struct MockResponse: Sendable {
    /// One step of a script.
    public enum Step: Sendable {
        /// Sends the bytes.
        case send(Data)
        /// Sends the bytes in pieces of `of` bytes, at least one, with a pause between any two.
        case sendInPieces(Data, of: Int, every: Duration)
        /// Waits for a time; the connection ends if the client disconnects meanwhile, or the server stops.
        case pause(Duration)
        /// Waits until the gate is open; the connection ends if the client disconnects meanwhile, or the server stops.
        case waitFor(Gate)
        /// Does nothing more until the client disconnects or the server stops.
        case stall
        /// Closes the connection with a FIN.
        case close
        /// Closes the connection with a RST.
        case reset
    }

    /// Whether the connection stays open after the script, unless the client asks to close it.
    public var keepsAlive: Bool

    /// Whether the script begins as soon as the head of the request has arrived.
    var isEarly = false

    typealias Render = @Sendable (_ request: RecordedRequest, _ closes: Bool) -> [Step]

    /// Makes the steps for a request; `closes` says that the connection ends afterwards, which a head should announce.
    let render: Render

    init(keepsAlive: Bool = true, render: @escaping Render) {
        self.keepsAlive = keepsAlive
        self.render = render
    }

    /// The steps with which a server responds to the request.
    public func steps(for request: RecordedRequest) -> [Step] {
        steps(for: request, isLast: false)
    }

    /// The steps with which a server responds to the request, which may be the last one on its connection.
    func steps(for request: RecordedRequest, isLast: Bool) -> [Step] {
        render(request, isLast || !keepsAlive || !request.keepsAlive)
    }

    /// Returns a response with other steps: `change` gets the steps of this one.
    ///
    /// ``truncated(after:)`` and the other faults are made with it, and so are your own:
    ///
    /// ```swift
    /// extension MockResponse {
    ///     var twice: MockResponse { changingSteps { $0 + $0 } }
    /// }
    /// ```
    public func changingSteps(_ change: @escaping @Sendable ([Step]) -> [Step]) -> MockResponse {
        changingRender { render in { change(render($0, $1)) } }
    }

    /// Returns a copy of this response with another `render` closure.
    func changingRender(_ change: (@escaping Render) -> Render) -> MockResponse {
        var result = MockResponse(keepsAlive: keepsAlive, render: change(render))
        result.isEarly = isEarly
        return result
    }

    /// A response that runs these steps, byte for byte.
    public static func script(_ steps: [Step], keepsAlive: Bool = true) -> MockResponse {
        MockResponse(keepsAlive: keepsAlive) { _, _ in steps }
    }

    /// Bytes of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    public static func raw(_ bytes: Data, keepsAlive: Bool = false) -> MockResponse {
        .script([.send(bytes)], keepsAlive: keepsAlive)
    }

    /// Text of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    public static func raw(_ text: String, keepsAlive: Bool = false) -> MockResponse {
        .raw(Data(text.utf8), keepsAlive: keepsAlive)
    }
}

// MARK: - Factories

extension MockResponse {
    /// A status, with optional header fields and body.
    ///
    /// The length is added unless the headers have a `Content-Length`, right or wrong, or a `Transfer-Encoding`. The
    /// response to a `HEAD` is the head alone; 1xx, 204 and 304 never carry a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data()) -> MockResponse {
        .message(ResponseHead(status: status, headers: headers, length: body.count), body: [body])
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> MockResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// JSON as text, which isn't checked.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> MockResponse {
        .data(Data(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// A JSON object from a literal, with values of any `Encodable` types and its keys sorted.
    ///
    /// If several members have the same name, the last one counts. A nested literal is a `Dictionary`, whose keys must
    /// be unique, unless it is cast with `as JSONValue.Fields`.
    ///
    /// - Throws: The error of a value that can't be encoded.
    public static func json(
        _ fields: JSONValue.Fields,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) throws -> MockResponse {
        try json(encoding: fields, status, headers)
    }

    /// The value as JSON, with its keys sorted.
    ///
    /// A `String` counts as JSON text, in the other form of this method.
    ///
    /// - Throws: The error of a value that can't be encoded.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) throws -> MockResponse {
        try json(encoding: value, status, headers)
    }

    private static func json(
        encoding value: some Encodable,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
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

    /// A redirect to a location, absolute or relative, which is sent as given.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> MockResponse {
        .status(status, headers: [.location: location])
    }

    /// A chunked body, each chunk sent in its own write, with trailer fields after the last.
    public static func chunked(
        _ chunks: [Data],
        trailers: HTTPHeaders = [:],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> MockResponse {
        var fields = headers
        if !fields.contains(.transferEncoding) { fields.add("chunked", for: .transferEncoding) }
        // An empty chunk would end the body.
        var pieces = chunks.filter { !$0.isEmpty }.map { chunk in
            Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
        pieces.append(Data("0\r\n\(trailers.wireText)\r\n".utf8))
        return .message(ResponseHead(status: status, headers: fields, length: nil), body: pieces)
    }

    /// A body in chunks of a size, the last of which may be smaller, with trailer fields after the last.
    ///
    /// - Parameters:
    ///   - body: The content.
    ///   - chunkSize: The byte count of a chunk; less than 1 counts as 1.
    ///   - trailers: The fields after the last chunk; none by default.
    ///   - status: The status; 200 by default.
    ///   - headers: The header fields, besides `Transfer-Encoding`.
    /// - Returns: The response; without content, it has only the last chunk.
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

    /// The received request as JSON: `method`, `target`, `headers` (repeated fields joined) and `body` (as text).
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

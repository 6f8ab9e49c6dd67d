// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// A status, with header fields and content where there are any.
    ///
    /// The length of the content is added, unless the headers have a `Content-Length` or a `Transfer-Encoding`. The
    /// answer to a `HEAD`, 1xx, 204 and 304 come without content.
    public static func status(
        _ status: HTTPStatus,
        headers: HTTPHeaders = [],
        body: Data = Data()
    ) -> StubResponse {
        StubResponse(status: status, headers: headers, content: .data(body))
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

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> StubResponse {
        content(.data(Data(text.utf8)), "text/plain; charset=utf-8", status, headers)
    }

    /// JSON, as it is given: nobody looks whether it is correct.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> StubResponse {
        content(.data(Data(text.utf8)), .json, status, headers)
    }

    /// The value as JSON.
    ///
    /// A `String` is taken for JSON that is already written, by the other form of this. A value that can't be encoded
    /// is an error of the request, of code `encoding`.
    public static func json(
        _ value: some Encodable,
        encoder: JSONEncoder = JSONEncoder(),
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        do {
            return content(.data(try encoder.encode(value)), .json, status, headers)
        } catch {
            return content(.deferred { _ in throw error }, .json, status, headers)
        }
    }

    /// The bytes of a file, read when the response is sent.
    ///
    /// A file that can't be read is an error of the request.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - type: What is in it; by default what its extension says, and any bytes where that says nothing.
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
        return content(.deferred { _ in try Data(contentsOf: url) }, type, status, headers)
    }

    /// What was received: its content, with the fields that describe that, and 200.
    public static var echo: StubResponse {
        var response = StubResponse(status: .ok, content: .deferred { $0.body })
        response.echoesHeaders = true
        return response
    }

    /// A redirect to a location, absolute or relative, which is sent as it is given.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> StubResponse {
        .status(status, headers: [.location: location])
    }

    /// No response, but an error; a `URLError` becomes the `RequestError` that a network would give.
    public static func failure(_ error: any Error) -> StubResponse {
        var response = StubResponse(status: nil)
        response.ending = .failure(RequestError(error))
        return response
    }

    /// No response, but an error of a code of Foundation's, such as `.notConnectedToInternet`.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .failure(URLError(code))
    }

    /// No response: there is no network.
    public static var offline: StubResponse { .failure(.notConnectedToInternet) }

    /// Nothing, until the request is cancelled or its timeout has passed.
    public static var never: StubResponse {
        var response = StubResponse(status: nil)
        response.ending = .stall
        return response
    }

    private static func content(
        _ content: Content,
        _ type: MediaType,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
    ) -> StubResponse {
        var fields: HTTPHeaders = [.contentType: type.rawValue]
        for name in headers.names { fields.remove(name) }
        for field in headers { fields.add(field) }
        return StubResponse(status: status, headers: fields, content: content)
    }
}

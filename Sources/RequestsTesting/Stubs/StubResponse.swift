// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The response of an ``HTTPStubber``, or a failure, with its timing.
///
/// Made by a factory, and modified by faults:
///
/// ```swift
/// .json(user)
/// .text("late").delayed(by: .seconds(2))
/// .data(image, type: "image/png").speed(.edge)
/// .file(url).dropped(after: 100)
/// ```
///
/// A response is a value: it can be shared by stubs and threads, and used any number of times. Its delays are measured
/// on the clock of the stubber.
public struct StubResponse: Sendable {
    /// The source of the content.
    enum Content: Sendable {
        case data(Data)
        case deferred(@Sendable (StubbedRequest) throws -> Data)
    }

    /// The end of the response, after the content or its limit.
    enum Ending: Sendable {
        case complete
        case failure(RequestError)
        case stall
    }

    /// The status; `nil` for a failure, or if nothing is ever received.
    public internal(set) var status: HTTPStatus?
    /// The header fields, without those that are added from the content or the request.
    public var headers: HTTPHeaders
    var content: Content
    /// Whether the request's fields about its content are returned.
    var echoesHeaders = false
    /// The maximum byte count of the content; `nil` for all of it.
    var limit: Int?
    var ending = Ending.complete
    var delay = Duration.zero
    var speed: StubSpeed?
    var pieceSize: Int?
    var pause = Duration.zero

    init(status: HTTPStatus?, headers: HTTPHeaders = [], content: Content = .data(Data())) {
        self.status = status
        self.headers = headers
        self.content = content
    }
}

extension StubResponse {
    /// The same response with one more header field, which replaces those of its name.
    public func header(_ name: HTTPField.Name, _ value: String) -> StubResponse {
        changing { $0.headers[name] = value }
    }

    /// The same response after a delay; of several delays, the longest counts.
    public func delayed(by delay: Duration) -> StubResponse {
        changing { $0.delay = max($0.delay, delay) }
    }

    /// The same response with its content at a maximum speed, in pieces of a quarter of a second.
    public func speed(_ speed: StubSpeed) -> StubResponse {
        changing { $0.speed = speed }
    }

    /// The same response with its content in pieces.
    ///
    /// - Parameters:
    ///   - size: The byte count of a piece, at least 1; the last piece has the rest.
    ///   - pause: The time between two pieces; none by default.
    /// - Returns: The response.
    public func chunked(by size: Int, every pause: Duration = .zero) -> StubResponse {
        changing { ($0.pieceSize, $0.pause) = (max(1, size), pause) }
    }

    /// The same response, whose connection is lost after `count` bytes of the content, or at its end if it has fewer.
    ///
    /// With 0, only the head is received.
    public func dropped(after count: Int) -> StubResponse {
        changing {
            $0.limit = max(0, count)
            $0.ending = .failure(RequestError(URLError(.networkConnectionLost)).inPhase(.receiving))
        }
    }

    /// The same response, which stalls after `count` bytes of the content and never ends.
    public func stalled(after count: Int) -> StubResponse {
        changing { ($0.limit, $0.ending) = (max(0, count), .stall) }
    }

    private func changing(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var result = self
        change(&result)
        return result
    }
}

extension RequestError {
    /// Returns the error with another phase.
    fileprivate func inPhase(_ phase: Phase) -> RequestError {
        RequestError(code, phase: phase, reason: reason, underlying: underlying)
    }
}

// MARK: - Factories

extension StubResponse {
    /// A status, with optional header fields and content.
    ///
    /// The length of the content is added, unless the headers have a `Content-Length` or a `Transfer-Encoding`. The
    /// response to a `HEAD`, 1xx, 204 and 304 have no content.
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

    /// JSON as text, which isn't checked.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = []) -> StubResponse {
        content(.data(Data(text.utf8)), .json, status, headers)
    }

    /// A JSON object from a literal, with values of any `Encodable` types.
    ///
    /// If several members have the same name, the last one counts. A nested literal is a `Dictionary`, whose keys must
    /// be unique, unless it is cast with `as JSONValue.Fields`.
    public static func json(
        _ fields: JSONValue.Fields,
        encoder: JSONEncoder = JSONEncoder(),
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        json(encoding: fields, encoder, status, headers)
    }

    /// The value as JSON.
    ///
    /// A `String` counts as JSON text, in the other form of this method. A value that can't be encoded is an error of
    /// the request, with the code `encoding`.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable,
        encoder: JSONEncoder = JSONEncoder(),
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> StubResponse {
        json(encoding: value, encoder, status, headers)
    }

    private static func json(
        encoding value: some Encodable,
        _ encoder: JSONEncoder,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
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
    ///   - url: The URL of the file.
    ///   - type: The media type; by default that of the file extension, or `application/octet-stream` if it is unknown.
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

    /// The received content with the fields that describe it, and status 200.
    public static var echo: StubResponse {
        var response = StubResponse(status: .ok, content: .deferred { $0.body })
        response.echoesHeaders = true
        return response
    }

    /// A redirect to a location, absolute or relative, which is sent as given.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> StubResponse {
        .status(status, headers: [.location: location])
    }

    /// An error instead of a response; a `URLError` becomes the `RequestError` that a network would give.
    public static func failure(_ error: any Error) -> StubResponse {
        var response = StubResponse(status: nil)
        response.ending = .failure(RequestError(error))
        return response
    }

    /// An error with one of Foundation's codes, such as `.notConnectedToInternet`, instead of a response.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .failure(URLError(code))
    }

    /// The error of a missing network instead of a response.
    public static var offline: StubResponse { .failure(.notConnectedToInternet) }

    /// No event, until the request is cancelled or its timeout has passed.
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

// MARK: - Stubs

extension URLError {
    /// Makes the error that a session reports for a stub's error: the same one if it is a `URLError`.
    init(_ error: RequestError, at url: URL?) {
        if let own = error.underlying as? URLError {
            self = own
            return
        }
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.reason ?? error.description]
        if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
        self.init(Self.code(of: error), userInfo: userInfo)
    }

    private static func code(of error: RequestError) -> URLError.Code {
        switch error.code {
        case .cancelled: .cancelled
        case .timedOut, .deadlineExceeded: .timedOut
        case .offline: .notConnectedToInternet
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .badResponse: .cannotParseResponse
        case .untrusted: .secureConnectionFailed
        case .unsupported: .cannotLoadFromNetwork
        default: .unknown
        }
    }
}

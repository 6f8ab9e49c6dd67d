// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What an ``HTTPStubber`` answers: a response or a failure, and how long it takes.
///
/// Made by a factory, and changed by what is to go wrong:
///
/// ```swift
/// .json(user)
/// .text("late").delayed(by: .seconds(2))
/// .data(image, type: "image/png").speed(.edge)
/// .file(url).dropped(after: 100)
/// ```
///
/// A response is a value: it can be shared by stubs and threads, and used any number of times. Its times pass on the
/// clock of the stubber.
public struct StubResponse: Sendable {
    /// Where the content comes from.
    enum Content: Sendable {
        case data(Data)
        case deferred(@Sendable (StubbedRequest) throws -> Data)
    }

    /// What comes when the content, or as much of it as is to come, has come.
    enum Ending: Sendable {
        case complete
        case failure(RequestError)
        case stall
    }

    /// The status; nil where there is no response, but a failure or nothing at all.
    public internal(set) var status: HTTPStatus?
    /// The header fields, without those that are taken from the content or the request.
    public var headers: HTTPHeaders
    var content: Content
    /// Whether the fields of the request that describe its content come back.
    var echoesHeaders = false
    /// How many bytes of the content come; nil for all.
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
    /// The same response, with one more header field, which replaces those of its name.
    public func header(_ name: HTTPField.Name, _ value: String) -> StubResponse {
        changing { $0.headers[name] = value }
    }

    /// The same response, but nothing of it before a time has passed; the longest of several counts.
    public func delayed(by delay: Duration) -> StubResponse {
        changing { $0.delay = max($0.delay, delay) }
    }

    /// The same response, whose content comes no faster than this, in pieces of a quarter of a second.
    public func speed(_ speed: StubSpeed) -> StubResponse {
        changing { $0.speed = speed }
    }

    /// The same response, whose content comes in pieces.
    ///
    /// - Parameters:
    ///   - size: How many bytes a piece has, at least 1; the last has what is left.
    ///   - pause: The time between two pieces; none by default.
    /// - Returns: The response.
    public func chunked(by size: Int, every pause: Duration = .zero) -> StubResponse {
        changing { ($0.pieceSize, $0.pause) = (max(1, size), pause) }
    }

    /// The same response, whose connection is lost after so many bytes of the content, or after all where it has fewer.
    ///
    /// With 0, the head comes, and nothing of the content.
    public func dropped(after count: Int) -> StubResponse {
        changing {
            $0.limit = max(0, count)
            $0.ending = .failure(RequestError(URLError(.networkConnectionLost)).inPhase(.receiving))
        }
    }

    /// The same response, which comes to a halt after so many bytes of the content, and never ends.
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
    /// The same error, of another phase.
    fileprivate func inPhase(_ phase: Phase) -> RequestError {
        RequestError(code, phase: phase, reason: reason, underlying: underlying)
    }
}

// MARK: - Factories

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

    /// An object of JSON as it is written here, with values of any `Encodable` types.
    ///
    /// Of members of the same name the last one counts. A literal within it is a `Dictionary`, whose names have to differ,
    /// unless it says `as JSONValue.Fields`.
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
    /// A `String` is taken for JSON that is already written, by the other form of this. A value that can't be encoded
    /// is an error of the request, of code `encoding`.
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

// MARK: - Stubs

extension URLError {
    /// The error that a session reports for one of a stub: the stub's own where that is Foundation's.
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

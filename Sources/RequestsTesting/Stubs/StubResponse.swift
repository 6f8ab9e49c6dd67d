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

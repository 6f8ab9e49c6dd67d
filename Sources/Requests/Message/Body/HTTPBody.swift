// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a request: nothing, bytes in memory, a file, or a stream.
///
/// A body that can be sent again is *replayable*: a retry, a redirect that keeps the method, and an answer to a
/// challenge need one. Everything is, but for a stream that was handed over as it is.
public struct HTTPBody: Sendable {
    /// What the bytes come from.
    public enum Content: Sendable {
        /// There is no content.
        case none
        /// The bytes are in memory.
        case data(Data)
        /// The bytes are in a file, which is read while they are sent.
        case file(URL)
        /// The bytes come from a stream, which is read while they are sent.
        case stream(BodyStream)
    }

    /// What the bytes come from.
    public let content: Content

    /// No content.
    public static let none = HTTPBody(content: .none)

    /// Bytes in memory.
    public static func data(_ data: Data) -> HTTPBody {
        HTTPBody(content: .data(data))
    }

    /// The bytes of a file, read while they are sent.
    ///
    /// That it is there is checked when the request is built.
    public static func file(_ url: URL) -> HTTPBody {
        HTTPBody(content: .file(url))
    }

    /// The bytes of a stream, read while they are sent.
    public static func stream(_ stream: BodyStream) -> HTTPBody {
        HTTPBody(content: .stream(stream))
    }

    /// Whether there is no content.
    public var isEmpty: Bool {
        if case .none = content { true } else { false }
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        if case .stream(let stream) = content { stream.isReplayable } else { true }
    }
}

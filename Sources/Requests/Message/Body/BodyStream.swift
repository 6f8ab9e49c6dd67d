// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A body that is read from a stream while it is sent.
///
/// Made from a closure, it opens a new stream for every attempt and is replayable. Made from one stream, it can be sent
/// once: the stream is consumed by the first attempt, and a second is an error rather than an empty body.
public struct BodyStream: Sendable {
    /// How many bytes the stream has, or nil where that isn't known and the body is sent in chunks.
    ///
    /// The stream has to end there. Over libcurl, one that ends before, or goes on behind it, fails the request before
    /// the last byte is sent, so that the server never takes a part for the whole.
    public let length: Int64?
    /// Whether the body can be sent more than once.
    public let isReplayable: Bool
    private let makeStream: @Sendable () throws -> sending InputStream

    /// Makes a body that opens a new stream each time that it is sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes the stream has; nil, the default, sends them in chunks.
    ///   - open: Makes the stream, not opened yet; called for every attempt, on no thread in particular.
    public init(length: Int64? = nil, opening open: @escaping @Sendable () throws -> sending InputStream) {
        self.init(length: length, isReplayable: true, opening: open)
    }

    /// Makes a body of one stream, which can be sent once.
    public init(_ stream: sending InputStream, length: Int64? = nil) {
        let unread = Locked<InputStream?>(stream)
        self.length = length
        isReplayable = false
        makeStream = {
            let stream = unread.withLock { stream -> InputStream? in
                defer { stream = nil }
                return stream
            }
            guard let stream else { throw AlreadyRead() }
            return stream
        }
    }

    /// Makes a body that opens a stream each time that it is sent, which may work only once.
    package init(
        length: Int64? = nil,
        isReplayable: Bool,
        opening open: @escaping @Sendable () throws -> sending InputStream
    ) {
        self.length = length
        self.isReplayable = isReplayable
        makeStream = open
    }

    /// The same body, of a length that is known from elsewhere.
    func declaring(length: Int64) -> BodyStream {
        BodyStream(length: length, isReplayable: isReplayable, opening: makeStream)
    }

    /// The stream to read, not opened yet.
    ///
    /// - Throws: What the closure throws, or ``AlreadyRead``.
    public func open() throws -> sending InputStream {
        try makeStream()
    }

    /// The error of a stream that was sent before, and can't be sent again.
    public struct AlreadyRead: ExplainedError, CustomStringConvertible, LocalizedError {
        /// The error, in a sentence.
        public var description: String { "the stream of the body was sent before and can't be read again" }

        /// The error, for people.
        public var errorDescription: String? { description }
    }
}

// MARK: - Bytes

extension HTTPBody {
    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: What they are: any bytes by default. With nil the body says nothing about it: for an interceptor that
    ///     replaces a body by another form of it, such as a compressed one. Where nobody else says it either, some
    ///     transports call it a form.
    /// - Returns: The body.
    public static func data(_ data: Data, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.data(data), type: type)
    }

    /// The bytes of a file, read while they are sent.
    ///
    /// That it is there is checked when the request is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - type: What is in it; by default what its extension says, and any bytes where that says nothing.
    /// - Returns: The body.
    public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
        HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream)
    }

    /// The bytes of a stream, read while they are sent.
    ///
    /// - Parameters:
    ///   - stream: The stream, or what opens a new one for each attempt.
    ///   - type: What it gives: any bytes by default. With nil the body says nothing about it.
    /// - Returns: The body.
    public static func stream(_ stream: BodyStream, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.stream(stream), type: type)
    }

    private init(_ content: Content, type: MediaType?) {
        do {
            self.init(content, headers: try type.map { [.contentType: try $0.validated().rawValue] } ?? [])
        } catch {
            self.init { throw error }
        }
    }
}

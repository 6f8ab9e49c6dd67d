// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// A body that is read from a stream while it is sent.
    ///
    /// A body made from a closure opens a new stream for every attempt and is replayable. A body made from one stream
    /// can be sent once: the first attempt consumes the stream, and a second attempt is an error rather than an empty
    /// body.
    public struct Stream: Sendable {
        /// The byte count of the stream, or `nil` if it isn't known and the body is sent in chunks.
        ///
        /// The stream has to end there. Over libcurl, a stream that is shorter or longer fails the request before the
        /// last byte is sent, so that the server never takes a part for the whole.
        public let length: Int64?
        /// Whether the body can be sent more than once.
        public let isReplayable: Bool
        private let makeStream: @Sendable () throws -> sending InputStream

        /// Makes a body that opens a new stream each time that it is sent.
        ///
        /// - Parameters:
        ///   - length: The byte count of the stream; `nil`, the default, and negative counts, with which Foundation
        ///     says that it doesn't know, send it in chunks.
        ///   - open: Makes the stream, not opened yet; called for every attempt, on no particular thread.
        public init(length: Int64? = nil, opening open: @escaping @Sendable () throws -> sending InputStream) {
            self.init(length: length, isReplayable: true, opening: open)
        }

        /// Makes a body of one stream, which can be sent once.
        public init(_ stream: sending InputStream, length: Int64? = nil) {
            let unread = Locked<InputStream?>(stream)
            self.init(length: length, isReplayable: false) {
                let stream = unread.withLock { stream -> InputStream? in
                    defer { stream = nil }
                    return stream
                }
                guard let stream else { throw AlreadyRead() }
                return stream
            }
        }

        /// Makes a body that opens a stream each time that it is sent, which may succeed only once.
        package init(
            length: Int64? = nil,
            isReplayable: Bool,
            opening open: @escaping @Sendable () throws -> sending InputStream
        ) {
            self.length = length.flatMap { $0 < 0 ? nil : $0 }
            self.isReplayable = isReplayable
            makeStream = open
        }

        /// Returns the same body with a known length.
        func declaring(length: Int64) -> Stream {
            Stream(length: length, isReplayable: isReplayable, opening: makeStream)
        }

        /// The stream to read, not opened yet.
        ///
        /// - Throws: Any error that the closure throws, or ``AlreadyRead``.
        public func open() throws -> sending InputStream {
            try makeStream()
        }

        /// The error of a stream that was already sent and can't be sent again.
        public struct AlreadyRead: DescribedError {
            /// The error, in a sentence.
            public var description: String { "the stream of the body was sent before and can't be read again" }
        }
    }
}

// MARK: - Bytes

extension HTTPBody {
    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The media type; any bytes by default. With `nil` the body sets no type, which suits an interceptor
    ///     that replaces a body by another form of it, such as a compressed one. If the request sets none either, some
    ///     transports call the content a form.
    /// - Returns: The body.
    public static func data(_ data: Data, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.data(data), type: type)
    }

    /// The bytes of a file, read while they are sent.
    ///
    /// The file is looked for when the request is sent.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - type: The media type; by default the one of the file extension, or any bytes if the extension isn't known.
    /// - Returns: The body.
    public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
        HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream)
    }

    /// The bytes of a stream, read while they are sent.
    ///
    /// - Parameters:
    ///   - stream: A stream, or a closure that opens a new one for each attempt.
    ///   - type: The media type; any bytes by default. With `nil` the body sets no type.
    /// - Returns: The body.
    public static func stream(_ stream: HTTPBody.Stream, type: MediaType? = .octetStream) -> HTTPBody {
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

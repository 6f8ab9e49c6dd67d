// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// A body that is read from an `InputStream` or an asynchronous sequence while it is sent.
    ///
    /// A body that is created with a closure opens a new stream or sequence for each attempt, so it is replayable. A
    /// body that is created from a single stream or sequence can be sent only once, because the first attempt consumes
    /// it. A second attempt fails, rather than sending an empty body.
    public struct Stream: Sendable {
        /// Returns the next chunk, or `nil` at the end; called by one task at a time.
        package typealias Read = @Sendable () async throws -> Data?

        private enum Source: Sendable {
            /// Opens an input stream, whose `read` may block.
            case stream(@Sendable () throws -> sending InputStream)
            /// Returns a closure that reads the content chunk by chunk.
            case chunks(@Sendable () async throws -> Read)
        }

        /// The byte count of the content; `nil` if it is unknown, in which case the body is sent in chunks.
        ///
        /// If the content is shorter or longer, the request fails. With libcurl, it fails before the last byte is sent,
        /// so that the server never mistakes a part of the content for all of it.
        public let length: Int64?
        /// Whether the body can be sent more than once.
        public let isReplayable: Bool
        /// Whether reading stops at the length even if there are more bytes, because a file may have grown.
        private var endsAtLength = false
        private let source: Source

        /// Creates a body that opens a new stream each time that it is sent.
        ///
        /// - Parameters:
        ///   - length: The byte count of the stream. If it is `nil`, the default, or negative, as Foundation represents
        ///     an unknown length, the body is sent in chunks.
        ///   - open: Creates the stream without opening it. Called for each attempt, on any thread.
        public init(length: Int64? = nil, opening open: @escaping @Sendable () throws -> sending InputStream) {
            self.init(length: length, isReplayable: true, opening: open)
        }

        /// Creates a body from a single stream, which can be sent only once.
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

        /// Creates a body that opens a stream each time that it is sent.
        ///
        /// If the body isn't replayable, `open` may succeed only once.
        package init(
            length: Int64? = nil,
            isReplayable: Bool,
            opening open: @escaping @Sendable () throws -> sending InputStream
        ) {
            self.init(length: length, isReplayable: isReplayable, .stream(open))
        }

        /// Creates a body that is read by a closure until it returns `nil`; `open` creates the closure for each
        /// attempt.
        package init(
            length: Int64? = nil,
            isReplayable: Bool,
            reading open: @escaping @Sendable () async throws -> Read
        ) {
            self.init(length: length, isReplayable: isReplayable, .chunks(open))
        }

        /// Creates a body from the first `length` bytes of a file.
        init(file url: URL, length: Int64) {
            self.init(length: length, isReplayable: true) { try Content.file(url).open() }
            endsAtLength = true
        }

        private init(length: Int64?, isReplayable: Bool, _ source: Source) {
            self.length = length.flatMap { $0 < 0 ? nil : $0 }
            self.isReplayable = isReplayable
            self.source = source
        }

        /// Returns the same body with the given length.
        func declaring(length: Int64) -> Stream {
            Stream(length: length, isReplayable: isReplayable, source)
        }

        /// Whether the content is produced by asynchronous code, in which case no thread should block on it.
        package var isAsynchronous: Bool {
            if case .chunks = source { true } else { false }
        }

        /// Returns an input stream for the content, without opening it.
        ///
        /// For an asynchronous sequence, `read` blocks the thread until the sequence produces an element. Asynchronous
        /// code should iterate over the body instead.
        ///
        /// - Throws: Any error that the closure throws, or ``AlreadyRead``.
        public func open() throws -> sending InputStream {
            guard case .stream(let makeStream) = source else { return BodyPump.stream(of: self) }
            return try makeStream()
        }

        /// Opens the content, and returns a closure that reads it from the beginning, in chunks that are never empty.
        ///
        /// - Throws: Any error that the caller's closure throws, or ``AlreadyRead``.
        func makeReader() async throws -> Read {
            let read: Read
            switch source {
            case .chunks(let open): read = try await open()
            case .stream(let open):
                let reader = try await StreamReader(opening: open, isFile: endsAtLength)
                read = { try await reader.read() }
            }
            let count = Locked(Int64(0))
            return { [length, endsAtLength] in
                while !endsAtLength || count.withLock({ $0 != length }), let chunk = try await read() {
                    guard !chunk.isEmpty else {
                        try Task.checkCancellation()
                        continue
                    }
                    let excess = count.withLock { count in
                        count += Int64(chunk.count)
                        guard let length, count > length else { return 0 }
                        defer { count = length }
                        return Int(count - length)
                    }
                    guard excess == 0 || endsAtLength else { throw Self.wrongLength }
                    return chunk.dropLast(excess)
                }
                // Check for cancellation, because some sequences simply end when their task is cancelled.
                try Task.checkCancellation()
                guard length == nil || count.withLock({ $0 == length }) else { throw Self.wrongLength }
                return nil
            }
        }

        /// The error that is thrown if a stream was already sent and can't be sent again.
        public struct AlreadyRead: DescribedError {
            /// The error as a sentence.
            public var description: String { "the stream of the body was already sent, and can't be read again" }
        }

        /// The error for content that doesn't have the declared length, or whose stream fails without an error.
        static var wrongLength: InvalidValue {
            InvalidValue(.body, "doesn't have the declared length, or can't be read")
        }
    }
}

// MARK: - Iteration

/// A transport can read the content as an asynchronous sequence, without blocking a thread; each iteration opens the
/// content again.
extension HTTPBody.Stream: AsyncSequence {
    /// A chunk of the content.
    public typealias Element = Data

    /// Returns an iterator that opens the content before the first chunk.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// An iterator over the content of a body; when it is deallocated, the stream is closed or the sequence released.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let stream: HTTPBody.Stream
        private var read: Read?
        private var isOver = false

        fileprivate init(_ stream: HTTPBody.Stream) {
            self.stream = stream
        }

        /// Returns the next chunk, which is never empty, or `nil` at the end.
        ///
        /// - Throws: The error of the stream or sequence, ``HTTPBody/Stream/AlreadyRead``, or ``InvalidValue`` if
        ///   the content is shorter or longer than the declared length.
        public mutating func next() async throws -> Data? {
            guard !isOver else { return nil }
            isOver = true
            defer { if isOver { read = nil } }
            if read == nil { read = try await stream.makeReader() }
            let chunk = try await read?()
            isOver = chunk == nil
            return chunk
        }
    }
}

// MARK: - Bytes

extension HTTPBody {
    /// Creates a body from bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: The media type; `application/octet-stream` by default. With `nil`, the body sets no `Content-Type`.
    ///     Use `nil` in an interceptor that replaces a body with another form of it, such as a compressed body. If the
    ///     request doesn't set the field either, some transports declare the content as a form.
    /// - Returns: The body.
    public static func data(_ data: Data, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.data(data), type: type)
    }

    /// Creates a body from a file, which is read while it is sent.
    ///
    /// The file needn't exist until the request is sent.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - type: The media type; by default the type for the file extension, or `application/octet-stream` if the
    ///     extension is unknown.
    /// - Returns: The body.
    public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
        HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream)
    }

    /// Creates a body from a stream, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - stream: The stream, created from an `InputStream` or from a closure that opens one for each attempt.
    ///   - type: The media type; `application/octet-stream` by default. With `nil`, the body sets no `Content-Type`.
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

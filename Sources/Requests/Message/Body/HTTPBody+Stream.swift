// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// A body that is read while it is sent: from an `InputStream`, or from an asynchronous sequence.
    ///
    /// A body made by a closure opens a new stream or sequence for every attempt and is replayable. A body made of one
    /// stream or sequence can be sent once: the first attempt consumes it, and a second attempt is an error rather than
    /// an empty body.
    public struct Stream: Sendable {
        /// Returns the next chunk, and `nil` at the end; called by one task at a time.
        package typealias Read = @Sendable () async throws -> Data?

        private enum Source: Sendable {
            /// A stream, whose reader may have to block.
            case stream(@Sendable () throws -> sending InputStream)
            /// A closure that returns a chunk each time that it is called, and `nil` at the end.
            case chunks(@Sendable () async throws -> Read)
        }

        /// The byte count of the content, or `nil` if it isn't known and the body is sent in chunks.
        ///
        /// The content has to end there. A body that is shorter or longer is an error: over libcurl, the request fails
        /// before the last byte is sent, so that the server never takes a part for the whole.
        public let length: Int64?
        /// Whether the body can be sent more than once.
        public let isReplayable: Bool
        /// Whether the content ends at its length, even if there is more: a file may have grown.
        private var endsAtLength = false
        private let source: Source

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
            self.init(length: length, isReplayable: isReplayable, .stream(open))
        }

        /// Creates a body that a closure reads until it returns `nil`; `open` creates the closure for each attempt.
        package init(
            length: Int64? = nil,
            isReplayable: Bool,
            reading open: @escaping @Sendable () async throws -> Read
        ) {
            self.init(length: length, isReplayable: isReplayable, .chunks(open))
        }

        /// Creates a body of a file, read up to a length.
        init(file url: URL, length: Int64) {
            self.init(length: length, isReplayable: true) { try Content.file(url).open() }
            endsAtLength = true
        }

        private init(length: Int64?, isReplayable: Bool, _ source: Source) {
            self.length = length.flatMap { $0 < 0 ? nil : $0 }
            self.isReplayable = isReplayable
            self.source = source
        }

        /// Returns the same body with a known length.
        func declaring(length: Int64) -> Stream {
            Stream(length: length, isReplayable: isReplayable, source)
        }

        /// Whether the content is produced by asynchronous code, for which no thread should wait.
        package var isAsynchronous: Bool {
            if case .chunks = source { true } else { false }
        }

        /// Returns the stream to read, not opened yet.
        ///
        /// The stream of an asynchronous sequence blocks its reader until the sequence has an element. Code that may
        /// wait without a thread iterates over the body instead.
        ///
        /// - Throws: Any error that the closure throws, or ``AlreadyRead``.
        public func open() throws -> sending InputStream {
            guard case .stream(let makeStream) = source else { return BodyPump.stream(of: self) }
            return try makeStream()
        }

        /// Opens the content, and returns a closure that reads it from its beginning; its chunks aren't empty.
        ///
        /// - Throws: Any error that the closure of the caller throws, or ``AlreadyRead``.
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
                // Some sequences end when their task is cancelled.
                try Task.checkCancellation()
                guard length == nil || count.withLock({ $0 == length }) else { throw Self.wrongLength }
                return nil
            }
        }

        /// The error of a stream that was already sent and can't be sent again.
        public struct AlreadyRead: DescribedError {
            /// The error, in a sentence.
            public var description: String { "the stream of the body was sent before and can't be read again" }
        }

        /// The error of content that isn't as long as announced, or whose stream gives no reason.
        static var wrongLength: InvalidValue {
            InvalidValue(.body, "isn't as long as announced, or can't be read")
        }
    }
}

// MARK: - Iteration

/// The content as an asynchronous sequence, for a transport: each iteration opens it, and no thread is blocked.
extension HTTPBody.Stream: AsyncSequence {
    /// A chunk of the content.
    public typealias Element = Data

    /// Returns an iterator that opens the content before the first chunk.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the content of a body; releasing it closes the stream or releases the sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let stream: HTTPBody.Stream
        private var read: Read?
        private var isOver = false

        fileprivate init(_ stream: HTTPBody.Stream) {
            self.stream = stream
        }

        /// Returns the next chunk, which isn't empty; `nil` at the end.
        ///
        /// - Throws: The error of the stream or of the sequence, ``HTTPBody/Stream/AlreadyRead``, and an
        ///   ``InvalidValue`` for content that is shorter or longer than its length.
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

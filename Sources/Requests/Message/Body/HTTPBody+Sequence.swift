// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody.Stream {
    /// Creates a body from the elements of a sequence, which can be sent only once.
    ///
    /// The next element is requested whenever the transport needs more bytes. The sequence is iterated in a separate
    /// task, which is cancelled together with the request. If the sequence throws an error, the request fails with the
    /// code `encoding`, and with this error as the underlying error.
    ///
    /// - Parameters:
    ///   - elements: The content, in chunks of any size, such as `Data` or `[UInt8]`.
    ///   - length: The total byte count of the elements. With `nil`, the default, the body is sent in chunks. If the
    ///     sequence is shorter or longer, the request fails with the code `invalidRequest`.
    public init<Elements: AsyncSequence & Sendable>(
        _ elements: Elements,
        length: Int64? = nil
    ) where Elements.Element: Sequence<UInt8> {
        let unread = Locked<Elements?>(elements)
        self.init(length: length, isReplayable: false) {
            let elements = unread.withLock { elements in
                defer { elements = nil }
                return elements
            }
            guard let elements else { throw AlreadyRead() }
            return Self.reader(of: elements)
        }
    }

    /// Creates a replayable body from a closure that creates a *new* sequence for each attempt.
    ///
    /// - Parameters:
    ///   - length: The total byte count of the elements. With `nil`, the default, the body is sent in chunks.
    ///   - makeElements: Creates the sequence. Called once per attempt, on any thread. An error that it throws is
    ///     treated like an error thrown by the sequence.
    public init<Elements: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        iterating makeElements: @escaping @Sendable () async throws -> sending Elements
    ) where Elements.Element: Sequence<UInt8> {
        self.init(length: length, isReplayable: true) {
            do {
                return Self.reader(of: try await makeElements())
            } catch {
                throw SequenceFailure(error)
            }
        }
    }

    private static func reader<Elements: AsyncSequence & SendableMetatype>(
        of elements: sending Elements
    ) -> Read where Elements.Element: Sequence<UInt8> {
        // An iterator isn't `Sendable`, so each call takes the iterator out of the box, and then puts it in a new box.
        let box = Locked(Locked<Elements.AsyncIterator?>(elements.makeAsyncIterator()))
        return {
            let taken = box.withLock({ $0 }).withLock { iterator in
                defer { iterator = nil }
                return iterator
            }
            guard var iterator = taken else { throw AlreadyRead() }
            do {
                let chunk = try await iterator.next().map { $0 as? Data ?? Data($0) }
                let next = Locked<Elements.AsyncIterator?>(iterator)
                box.withLock { $0 = next }
                return chunk
            } catch {
                throw SequenceFailure(error)
            }
        }
    }

    /// Returns a body with the same content, which passes each chunk to a closure when the chunk is read.
    ///
    /// - Parameters:
    ///   - beginning: Called before the first chunk is read, for each attempt.
    ///   - observe: Called with each chunk.
    /// - Returns: The body.
    package func observed(
        from beginning: @escaping @Sendable () -> Void,
        by observe: @escaping @Sendable (Data) -> Void
    ) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length, isReplayable: isReplayable) {
            beginning()
            let read = try await makeReader()
            return {
                let chunk = try await read()
                if let chunk { observe(chunk) }
                return chunk
            }
        }
    }
}

/// Wraps an error thrown by a caller's sequence, so that it is never mistaken for an error of the connection.
struct SequenceFailure: DescribedError {
    let error: any Error

    init(_ error: any Error) {
        self.error = error
    }

    var description: String { "the asynchronous sequence of the body failed" }
}

extension HTTPBody {
    /// Creates a body from an asynchronous sequence, whose elements are sent as they are produced.
    ///
    /// The body can be sent only once.
    ///
    /// ```swift
    /// request.body = .stream(lines.map { Data($0.utf8) })
    /// ```
    ///
    /// - Parameters:
    ///   - elements: The content, in chunks of any size, such as `Data` or `[UInt8]`.
    ///   - length: The total byte count of the elements. With `nil`, the default, the body is sent in chunks. If the
    ///     sequence is shorter or longer, the request fails with the code `invalidRequest`.
    ///   - type: The media type; `application/octet-stream` by default. With `nil`, the body sets no `Content-Type`.
    /// - Returns: The body.
    public static func stream<Elements: AsyncSequence & Sendable>(
        _ elements: Elements,
        length: Int64? = nil,
        type: MediaType? = .octetStream
    ) -> HTTPBody where Elements.Element: Sequence<UInt8> {
        .stream(HTTPBody.Stream(elements, length: length), type: type)
    }

    /// Creates a replayable body from a closure that creates a new asynchronous sequence for each attempt.
    ///
    /// - Parameters:
    ///   - length: The total byte count of the elements. With `nil`, the default, the body is sent in chunks.
    ///   - type: The media type; `application/octet-stream` by default. With `nil`, the body sets no `Content-Type`.
    ///   - makeElements: Creates the sequence. Called once per attempt, on any thread.
    /// - Returns: The body.
    public static func stream<Elements: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        type: MediaType? = .octetStream,
        iterating makeElements: @escaping @Sendable () async throws -> sending Elements
    ) -> HTTPBody where Elements.Element: Sequence<UInt8> {
        .stream(HTTPBody.Stream(length: length, iterating: makeElements), type: type)
    }
}

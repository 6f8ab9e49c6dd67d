// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody.Stream {
    /// Creates a body of the elements of a sequence, which can be sent once.
    ///
    /// The sequence is asked for its next element when the transport needs more. It is iterated in a task of its own,
    /// which is cancelled with the request. An error that it throws fails the request: the code is `encoding`, and the
    /// error is the underlying one.
    ///
    /// - Parameters:
    ///   - elements: The content: chunks of any size, such as `Data` or `[UInt8]`.
    ///   - length: The byte count of all elements; `nil`, the default, sends them in chunks. A sequence that is shorter
    ///     or longer fails the request with the code `invalidRequest`.
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

    /// Creates a replayable body: the closure must make a *new* sequence for each attempt.
    ///
    /// - Parameters:
    ///   - length: The byte count of all elements; `nil`, the default, sends them in chunks.
    ///   - makeElements: Creates the sequence; called once per attempt, on any thread. An error that it throws
    ///     fails the request, as one of the sequence does.
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
        // An iterator isn't sendable: each call takes it out of its box, and leaves it in a new one.
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

    /// Returns the same body, whose chunks are passed to a closure when they are read.
    ///
    /// - Parameters:
    ///   - beginning: Called before the first chunk of each attempt.
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

/// An error of a caller's sequence: whatever it is, it isn't one of the request's own connection.
struct SequenceFailure: DescribedError {
    let error: any Error

    init(_ error: any Error) {
        self.error = error
    }

    var description: String { "the sequence of the body failed" }
}

extension HTTPBody {
    /// The elements of an asynchronous sequence, sent as they come; it can be sent once.
    ///
    /// ```swift
    /// request.body = .stream(lines.map { Data($0.utf8) })
    /// ```
    ///
    /// - Parameters:
    ///   - elements: The content: chunks of any size, such as `Data` or `[UInt8]`.
    ///   - length: The byte count of all elements; `nil`, the default, sends them in chunks. A sequence that is shorter
    ///     or longer fails the request with the code `invalidRequest`.
    ///   - type: The media type; any bytes by default. With `nil` the body sets no type.
    /// - Returns: The body.
    public static func stream<Elements: AsyncSequence & Sendable>(
        _ elements: Elements,
        length: Int64? = nil,
        type: MediaType? = .octetStream
    ) -> HTTPBody where Elements.Element: Sequence<UInt8> {
        .stream(HTTPBody.Stream(elements, length: length), type: type)
    }

    /// The elements of an asynchronous sequence that a closure makes for each attempt, so that it can be sent again.
    ///
    /// - Parameters:
    ///   - length: The byte count of all elements; `nil`, the default, sends them in chunks.
    ///   - type: The media type; any bytes by default. With `nil` the body sets no type.
    ///   - makeElements: Creates the sequence; called once per attempt, on any thread.
    /// - Returns: The body.
    public static func stream<Elements: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        type: MediaType? = .octetStream,
        iterating makeElements: @escaping @Sendable () async throws -> sending Elements
    ) -> HTTPBody where Elements.Element: Sequence<UInt8> {
        .stream(HTTPBody.Stream(length: length, iterating: makeElements), type: type)
    }
}

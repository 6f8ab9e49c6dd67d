// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The elements of a ``ResponseStream``, as they are complete: lines, events, values.
///
/// Made by ``ResponseStream/lines``, ``ResponseStream/serverSentEvents`` and ``ResponseStream/jsonLines(_:decoder:)``.
/// An element that is larger than 1 MiB, unless said otherwise, ends the sequence with an ``OversizedElement``.
public struct ParsedStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a piece, or the end, which is nil: gives what that completes, and what keeps it from reading on.
    typealias Reader = (Data?) -> (elements: [Element], failure: (any Error)?)

    private let base: ResponseStream
    private let makeReader: @Sendable () -> Reader

    init<Parser: StreamParser>(
        _ base: ResponseStream,
        _ makeParser: @escaping @Sendable () -> Parser,
        _ transform: @escaping @Sendable (Parser.Element) throws -> Element
    ) {
        self.base = base
        makeReader = {
            var parser = makeParser()
            return { data in
                var elements: [Element] = []
                do {
                    for part in data.map({ parser.feed($0) }) ?? parser.finish() {
                        elements.append(try transform(part))
                    }
                    return (elements, parser.failure)
                } catch {
                    return (elements, error)
                }
            }
        }
    }

    /// Begins to consume.
    public func makeAsyncIterator() -> Iterator { Iterator(base.makeAsyncIterator(), makeReader()) }

    /// Consumes a ``ParsedStream``.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: ResponseStream.Iterator
        private let read: Reader
        private var elements: [Element] = []
        private var next = 0
        private var failure: (any Error)?
        private var isAtEnd = false

        init(_ base: ResponseStream.Iterator, _ read: @escaping Reader) {
            self.base = base
            self.read = read
        }

        /// The next element; nil at the end.
        ///
        /// - Throws: What ends the stream before its content is complete, and what an element can't be read for.
        public mutating func next() async throws -> Element? {
            while next == elements.count {
                guard !isAtEnd else { return nil }
                // What was complete came first.
                if let failure {
                    isAtEnd = true
                    throw failure
                }
                let chunk = try await base.next()
                (elements, failure) = read(chunk)
                next = 0
                isAtEnd = chunk == nil && failure == nil
            }
            defer { next += 1 }
            return elements[next]
        }
    }
}

extension ResponseStream {
    /// The content as lines of UTF-8, without what ends them: LF, CR LF or CR.
    ///
    /// What isn't UTF-8 is replaced, as `String(decoding:as:)` does.
    public var lines: ParsedStream<String> {
        ParsedStream(self, { LineParser() }, { String(decoding: $0, as: UTF8.self) })
    }

    /// The content as server-sent events (WHATWG HTML, 9.2).
    public var serverSentEvents: ParsedStream<ServerSentEvent> {
        ParsedStream(self, { ServerSentEventParser() }, { $0 })
    }

    /// The content as values of JSON, one a line; blank lines are passed over.
    ///
    /// - Parameters:
    ///   - type: What a line decodes to; known from the context, where there is one.
    ///   - decoder: Makes the decoder, for each line one; nil, the default, is the decoder of the environment that the
    ///     request runs in.
    /// - Returns: The values. A line that can't be decoded ends the sequence with the decoder's error.
    public func jsonLines<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ParsedStream<Value> {
        let makeDecoder = makeDecoder
        return ParsedStream(
            self,
            { JSONLinesParser() },
            { try (decoder() ?? makeDecoder()).decode(type, from: $0) }
        )
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The elements of a ``ResponseStream``, as they are complete: lines, events, values.
///
/// Made by ``ResponseStream/lines``, ``ResponseStream/serverSentEvents`` and ``ResponseStream/jsonLines(_:decoder:)``.
/// An element that is larger than 1 MiB ends the sequence with an error of code `bodyTooLarge`, whose underlying error is
/// an ``RequestError/OversizedElement``.
public struct ParsedStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Reads a line, or the end, which is nil: gives what that completes, and what keeps it from reading on.
    typealias Reader = (Data?) -> (element: Result<Element, RequestError>?, failure: RequestError?)

    private let base: ResponseStream
    private let makeReader: @Sendable () -> Reader

    init<Parser: StreamParser>(
        _ base: ResponseStream,
        _ makeParser: @escaping @Sendable () -> Parser,
        _ transform: @escaping @Sendable (Parser.Element) -> Result<Element, RequestError>
    ) {
        self.init(base) { [core = base.core] in
            let reader = core.reader(makeParser)
            return { line in
                let (element, failure) = reader.read(line)
                return (element.map(transform), failure.map { RequestError($0) })
            }
        }
    }

    fileprivate init(_ base: ResponseStream, _ makeReader: @escaping @Sendable () -> Reader) {
        self.base = base
        self.makeReader = makeReader
    }

    /// The same elements, where one that can't be decoded is a failure among them, and ends nothing.
    ///
    /// ```swift
    /// for try await result in stream.jsonLines(Reading.self).results {
    ///     switch result {
    ///     case .success(let reading): show(reading)
    ///     case .failure(let error): print("skipped: \(error)")
    ///     }
    /// }
    /// ```
    public var results: ParsedStream<Result<Element, RequestError>> {
        ParsedStream<Result<Element, RequestError>>(base) { [makeReader] in
            let read = makeReader()
            return { line in
                let (element, failure) = read(line)
                return (element.map { .success($0) }, failure)
            }
        }
    }

    /// Begins to consume, or goes on behind the last element that an iterator before has given.
    public func makeAsyncIterator() -> Iterator { Iterator(base, makeReader()) }

    /// Consumes a ``ParsedStream``.
    public struct Iterator: AsyncIteratorProtocol {
        /// Any error: each that a loop throws is a ``RequestError``.
        public typealias Failure = any Error
        private var base: ResponseStream.Iterator
        private let core: StreamCore
        private let read: Reader
        private var failure: RequestError?
        private var isAtEnd = false

        init(_ base: ResponseStream, _ read: @escaping Reader) {
            self.base = base.makeAsyncIterator()
            core = base.core
            self.read = read
        }

        /// The next element; nil at the end.
        ///
        /// - Throws: What ends the stream before its content is complete, and one of code `decoding` for an element that
        ///   can't be decoded; behind that, this iterator gives nothing.
        public mutating func next() async throws(RequestError) -> Element? {
            guard !isAtEnd else { return nil }
            while true {
                // What was complete came first.
                if let failure { throw end(failure) }
                let line = try await base.nextLine()
                let element: Result<Element, RequestError>?
                (element, failure) = read(line)
                switch element {
                case .success(let element):
                    if line == nil { core.keepEnd() }
                    return element
                case .failure(let error):
                    if line == nil { core.keepEnd() }
                    throw end(error)
                case nil:
                    isAtEnd = line == nil && failure == nil
                    if isAtEnd { return nil }
                }
            }
        }

        private mutating func end(_ error: RequestError) -> RequestError {
            isAtEnd = true
            return error
        }
    }
}

extension ResponseStream {
    /// The content as lines of UTF-8, without what ends them: LF, CR LF or CR.
    ///
    /// What isn't UTF-8 is replaced, as `String(decoding:as:)` does.
    public var lines: ParsedStream<String> {
        ParsedStream(self, { LineParser() }, { .success(String(decoding: $0, as: UTF8.self)) })
    }

    /// The content as server-sent events (WHATWG HTML, 9.2).
    public var serverSentEvents: ParsedStream<ServerSentEvent> {
        let makeDecoder = makeDecoder
        return ParsedStream(self, { ServerSentEventParser() }, { .success($0.decoded(by: makeDecoder)) })
    }

    /// The content as values of JSON, one a line; blank lines are passed over.
    ///
    /// - Parameters:
    ///   - type: What a line decodes to; known from the context, where there is one.
    ///   - decoder: Makes the decoder, for each line one; nil, the default, is the decoder of the environment that the
    ///     request runs in.
    /// - Returns: The values. A line that can't be decoded ends the sequence with an error of code `decoding`; those of
    ///   ``ParsedStream/results`` go on behind it.
    public func jsonLines<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ParsedStream<Value> {
        let makeDecoder = makeDecoder
        return ParsedStream(
            self,
            { JSONLinesParser() },
            { line in RequestError.catching(type) { try (decoder() ?? makeDecoder()).decode(type, from: line) } }
        )
    }
}

extension RequestError {
    /// Decodes a value; what the decoder throws is the underlying error of one of code `decoding`.
    static func catching<Value>(_ type: Value.Type, _ decode: () throws -> Value) -> Result<Value, RequestError> {
        do {
            return .success(try decode())
        } catch {
            let reason = "the value is of type \(type)"
            return .failure(RequestError(.decoding, phase: .decoding, reason: reason, underlying: error))
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseStream {
    /// The elements of a ``ResponseStream``, as soon as they are complete: lines, events, values.
    ///
    /// Made by ``ResponseStream/lines``, ``ResponseStream/serverSentEvents`` and
    /// ``ResponseStream/jsonLines(_:decoder:)``. An element that is larger than 1 MiB ends the sequence with an error
    /// of code `bodyTooLarge`.
    public struct Parsed<Element: Sendable>: AsyncSequence, Sendable {
        /// Reads a line, or the end, which is `nil`: returns the completed element, and throws an error that ends the
        /// reading.
        typealias Reader = (Data?) throws(RequestError) -> Result<Element, RequestError>?

        private let base: ResponseStream
        /// Why the content has no such elements; `nil` if it has.
        private let refusal: RequestError?
        private let makeReader: @Sendable () -> Reader

        init<Parser: StreamParser>(
            _ base: ResponseStream,
            refusal: RequestError? = nil,
            _ makeParser: @escaping @Sendable () -> Parser,
            _ transform: @escaping @Sendable (Parser.Element) -> Result<Element, RequestError>
        ) {
            self.init(base, refusal: refusal) { [core = base.core] in
                let reader = core.reader(makeParser)
                return { line throws(RequestError) in try reader.read(line).map(transform) }
            }
        }

        fileprivate init(_ base: ResponseStream, refusal: RequestError?, _ makeReader: @escaping @Sendable () -> Reader)
        {
            (self.base, self.refusal, self.makeReader) = (base, refusal, makeReader)
        }

        /// The same elements as results: one that can't be decoded is a failure among them, and doesn't end the stream.
        ///
        /// ```swift
        /// for try await result in stream.jsonLines(Reading.self).results {
        ///     switch result {
        ///     case .success(let reading): show(reading)
        ///     case .failure(let error): print("skipped: \(error)")
        ///     }
        /// }
        /// ```
        public var results: Parsed<Result<Element, RequestError>> {
            let context = base.core.context
            return Parsed<Result<Element, RequestError>>(base, refusal: refusal) { [makeReader] in
                let read = makeReader()
                return { line throws(RequestError) in try read(line).map { .success($0.mapError(context.complete)) } }
            }
        }

        /// Begins to consume, or continues behind the last element of an earlier iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(base, refusal, makeReader()) }

        /// Consumes a ``ResponseStream/Parsed``.
        public struct Iterator: AsyncIteratorProtocol {
            /// Any error: each error that a loop throws is a ``RequestError``.
            public typealias Failure = any Error
            private let stream: ResponseStream
            private var base: ResponseStream.Iterator
            private let refusal: RequestError?
            private let read: Reader
            private var isAtEnd = false

            init(_ stream: ResponseStream, _ refusal: RequestError?, _ read: @escaping Reader) {
                (self.stream, self.refusal, self.read) = (stream, refusal, read)
                base = stream.makeAsyncIterator()
            }

            /// The next element; `nil` at the end.
            ///
            /// - Throws: The error that ends the stream before its content is complete, and one of code `decoding` for
            ///   an element that can't be decoded; afterwards, this iterator returns `nil`.
            public mutating func next() async throws(RequestError) -> Element? {
                guard !isAtEnd else { return nil }
                do throws(RequestError) {
                    if let refusal {
                        let body = try await stream.errorBody()
                        throw refusal.withContext(request: nil, response: stream.head, body: body, transfers: [])
                    }
                    while let line = try await base.nextLine() {
                        if let element = try read(line) { return try element.get() }
                    }
                    let last = try read(nil)
                    isAtEnd = last == nil
                    // The element comes first; the end is for the next loop.
                    if last != nil { stream.core.keepEnd() }
                    return try last?.get()
                } catch {
                    isAtEnd = true
                    throw stream.core.context.addContext(to: error)
                }
            }
        }
    }
}

extension ResponseStream {
    /// The content as lines of UTF-8, without their ends: LF, CR LF or CR.
    ///
    /// Bytes that aren't UTF-8 are replaced, as `String(decoding:as:)` does.
    public var lines: ResponseStream.Parsed<String> {
        ResponseStream.Parsed(self, { LineParser() }, { .success(String(decoding: $0, as: UTF8.self)) })
    }

    /// The content as server-sent events (WHATWG HTML, 9.2).
    ///
    /// Content that names another type than `text/event-stream` fails with the code `unacceptableContentType`, and is
    /// in the error: an error page, or the reason of an API.
    public var serverSentEvents: ResponseStream.Parsed<ServerSentEvent> {
        let refusal =
            head[.contentType] == nil ? nil : ContentTypeValidator.mismatch(of: head, accepting: [.eventStream])
        return ResponseStream.Parsed(
            self,
            refusal: refusal,
            { ServerSentEventParser() },
            { [context = core.context] in .success($0.received(in: context)) }
        )
    }

    /// Returns the content as values of JSON, one a line; blank lines are skipped.
    ///
    /// - Parameters:
    ///   - type: The type of a value; usually inferred.
    ///   - decoder: Makes a decoder for each line; `nil`, the default, is the decoder of the environment that the
    ///     request runs in.
    /// - Returns: The values. A line that can't be decoded ends the sequence with an error of code `decoding`; those of
    ///   ``ResponseStream/Parsed/results`` continue behind it.
    public func jsonLines<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ResponseStream.Parsed<Value> {
        let makeDecoder = core.context.makeDecoder
        return ResponseStream.Parsed(
            self,
            { JSONLinesParser() },
            { line in RequestError.catching(type) { try (decoder() ?? makeDecoder()).decode(type, from: line) } }
        )
    }
}

extension RequestError {
    /// Decodes a value; an error of the decoder is the underlying error of one of code `decoding`.
    static func catching<Value>(_ type: Value.Type, _ decode: () throws -> Value) -> Result<Value, RequestError> {
        do {
            return .success(try decode())
        } catch {
            let reason = "the value is of type \(type)"
            return .failure(RequestError(.decoding, phase: .decoding, reason: reason, underlying: error))
        }
    }
}

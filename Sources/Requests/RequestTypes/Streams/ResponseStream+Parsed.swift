// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseStream {
    /// The elements of a ``ResponseStream``, such as lines, events or JSON values, each as soon as it is complete.
    ///
    /// ``ResponseStream/lines``, ``ResponseStream/serverSentEvents`` and ``ResponseStream/jsonLines(_:decoder:)``
    /// create these sequences. An element larger than 1 MiB ends the sequence with the error code `bodyTooLarge`.
    public struct Parsed<Element: Sendable>: AsyncSequence, Sendable {
        /// A closure that parses a line, or `nil` for the end, and returns the element that it completes, if any.
        ///
        /// An error that it throws ends the sequence.
        typealias Reader = (Data?) throws(RequestError) -> Result<Element, RequestError>?

        private let base: ResponseStream
        /// The error for content of an unacceptable type; `nil` if the type is acceptable.
        private let contentTypeError: RequestError?
        private let makeReader: @Sendable () -> Reader

        init<Parser: StreamParser>(
            _ base: ResponseStream,
            contentTypeError: RequestError? = nil,
            _ makeParser: @escaping @Sendable () -> Parser,
            _ transform: @escaping @Sendable (Parser.Element) -> Result<Element, RequestError>
        ) {
            self.init(base, contentTypeError: contentTypeError) { [core = base.core] in
                let reader = core.reader(makeParser)
                return { line throws(RequestError) in try reader.read(line).map(transform) }
            }
        }

        fileprivate init(
            _ base: ResponseStream,
            contentTypeError: RequestError?,
            _ makeReader: @escaping @Sendable () -> Reader
        ) {
            (self.base, self.contentTypeError, self.makeReader) = (base, contentTypeError, makeReader)
        }

        /// The elements, each wrapped in a `Result`, so that an element that can't be decoded doesn't end the sequence.
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
            return Parsed<Result<Element, RequestError>>(base, contentTypeError: contentTypeError) { [makeReader] in
                let read = makeReader()
                return { line throws(RequestError) in
                    try read(line).map { .success($0.mapError { context.addContext(to: $0) }) }
                }
            }
        }

        /// Creates an iterator, which continues after the last element of an earlier iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(base, contentTypeError, makeReader()) }

        /// The iterator of a ``ResponseStream/Parsed``.
        public struct Iterator: AsyncIteratorProtocol {
            /// Any error, although every error that a loop throws is a ``RequestError``.
            public typealias Failure = any Error
            private let stream: ResponseStream
            private var base: ResponseStream.Iterator
            private let contentTypeError: RequestError?
            private let read: Reader
            private var isAtEnd = false

            init(_ stream: ResponseStream, _ contentTypeError: RequestError?, _ read: @escaping Reader) {
                (self.stream, self.contentTypeError, self.read) = (stream, contentTypeError, read)
                base = stream.makeAsyncIterator()
            }

            /// Returns the next element; `nil` at the end.
            ///
            /// - Throws: The error that ended the stream before its content was complete, or an error with the code
            ///   `decoding` for an element that can't be decoded. Afterwards, this iterator returns `nil`.
            public mutating func next() async throws(RequestError) -> Element? {
                guard !isAtEnd else { return nil }
                do throws(RequestError) {
                    if let contentTypeError {
                        let body = try await stream.errorBody()
                        throw contentTypeError.withContext(
                            request: nil,
                            response: stream.head,
                            body: body,
                            transfers: []
                        )
                    }
                    while let line = try await base.nextLine() {
                        if let element = try read(line) { return try element.get() }
                    }
                    let last = try read(nil)
                    isAtEnd = last == nil
                    // Return the element now; the next loop then receives the end.
                    if last != nil { stream.core.restoreEnd() }
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
    /// The lines of the content, decoded as UTF-8, without their line endings: LF, CR LF or CR.
    ///
    /// Invalid UTF-8 is replaced, as by `String(decoding:as:)`.
    public var lines: ResponseStream.Parsed<String> {
        ResponseStream.Parsed(self, { LineParser() }, { .success(String(decoding: $0, as: UTF8.self)) })
    }

    /// The content as server-sent events (WHATWG HTML, 9.2).
    ///
    /// Content with a declared type other than `text/event-stream` fails with the code `unacceptableContentType`. The
    /// error contains the content, which may be an error page, or an API's explanation.
    public var serverSentEvents: ResponseStream.Parsed<ServerSentEvent> {
        let contentTypeError =
            head[.contentType] == nil ? nil : ContentTypeValidator.mismatch(of: head, accepting: [.eventStream])
        return ResponseStream.Parsed(
            self,
            contentTypeError: contentTypeError,
            { ServerSentEventParser() },
            { [context = core.context] in .success($0.received(in: context)) }
        )
    }

    /// Returns the content as JSON values, one per line; blank lines are skipped.
    ///
    /// - Parameters:
    ///   - type: The type of a value; usually inferred.
    ///   - decoder: Creates a decoder for each line; `nil`, the default, uses the decoder of the request's environment.
    /// - Returns: The values. A line that can't be decoded ends the sequence with the error code `decoding`, but
    ///   doesn't end the sequence of ``ResponseStream/Parsed/results``.
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
    /// Returns a decoded value, or an error with the code `decoding` whose underlying error is the decoder's error.
    static func catching<Value>(_ type: Value.Type, _ decode: () throws -> Value) -> Result<Value, RequestError> {
        do {
            return .success(try decode())
        } catch {
            let reason = "can't decode \(type)"
            return .failure(RequestError(.decoding, phase: .decoding, reason: reason, underlying: error))
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a response as it arrives: an asynchronous sequence of chunks, as large as the network delivers them.
///
/// ```swift
/// for try await chunk in stream { try file.write(contentsOf: chunk) }
/// ```
///
/// Chunks are buffered until they are consumed. If there are too many, the transfer pauses, provided that the transport
/// can pause it (``TransportCapabilities/pausing``). Otherwise, a consumer that is much slower than the network fails
/// with the code `bufferFull`.
///
/// A stream is consumed once, by one task. A second iteration continues where the first stopped, and fails with the
/// code `alreadyConsumed` if the first reached the end. The same applies to ``lines`` and the other elements: one loop
/// may read a preamble line by line, and another loop may read the rest, as values or as chunks. Releasing the stream
/// before the end of the content cancels the transfer.
public final class ResponseStream: AsyncSequence, Sendable {
    /// A chunk of the content.
    public typealias Element = Data

    /// The status and the headers.
    public let head: HTTPResponseHead
    let core: StreamCore

    init(_ head: HTTPResponseHead, _ core: StreamCore) {
        (self.head, self.core) = (head, core)
    }

    /// Creates a stream from the given chunks, for testing its consumers.
    public convenience init(_ chunks: [Data], head: HTTPResponseHead = HTTPResponseHead(status: .ok)) {
        self.init(head, StreamCore(of: chunks, in: ReceivingContext(head)))
    }

    deinit {
        core.cancel()
    }

    /// Returns another stream of the same content; releasing either of them ends both.
    func newReference() -> ResponseStream { ResponseStream(head, core) }

    /// Waits until the stream has been consumed to its end or abandoned; call it only once.
    ///
    /// - Throws: The error of the transfer, even if the consumer hasn't read the preceding content yet.
    func waitUntilOver() async throws(RequestError) {
        let error = await withTaskCancellationHandler {
            await core.completion.value()
        } onCancel: {
            core.cancel()
        }
        if let error { throw error }
    }

    /// Reads the remaining content, up to the maximum size of the content in an error, and abandons the rest.
    ///
    /// A transfer that fails or takes too long also ends the content.
    ///
    /// - Throws: The consumer's error, if its task is cancelled, or if another loop consumes the stream.
    func errorBody() async throws(RequestError) -> Data {
        let limit = core.context.maximumErrorBodySize
        var (body, iterator) = (Data(), makeAsyncIterator())
        let timer = DelayedAction(after: Transfer.maximumErrorContentTime, on: ContinuousClock()) { [core] in
            core.end(nil)
        }
        defer { timer.cancel() }
        do throws(RequestError) {
            while body.count < limit, let chunk = try await iterator.next() { body += chunk }
        } catch {
            if error.code == .alreadyConsumed || Task.isCancelled { throw error }
        }
        core.abandon()
        return body.prefix(limit)
    }

    /// The status.
    public var status: HTTPStatus { head.status }
    /// The header fields.
    public var headers: HTTPHeaders { head.headers }

    /// Creates an iterator, which continues where an earlier iterator stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The iterator of a ``ResponseStream``.
    public struct Iterator: AsyncIteratorProtocol {
        // With any other type, the Swift 6.3 compiler crashes on `try? await stream.reduce(…)`.
        /// Any error, although every error that a loop throws is a ``RequestError``.
        public typealias Failure = any Error
        private let stream: ResponseStream
        private var hasBegun = false

        fileprivate init(_ stream: ResponseStream) {
            self.stream = stream
        }

        /// Returns the next chunk; `nil` at the end.
        ///
        /// - Throws: The error that ended the transfer before its content was complete. The code is `cancelled` if the
        ///   task is cancelled, and `alreadyConsumed` if another loop consumes the content.
        public mutating func next() async throws(RequestError) -> Data? {
            defer { hasBegun = true }
            return try await stream.core.next(isFirstCall: !hasBegun)
        }

        /// Returns the bytes up to the end of the next line, or the available part of it; `nil` at the end.
        mutating func nextLine() async throws(RequestError) -> Data? {
            defer { hasBegun = true }
            return try await stream.core.next(.line, isFirstCall: !hasBegun)
        }
    }
}

/// A parser that successive iterations over a stream share.
final class ElementReader<Parser: StreamParser>: Sendable {
    private let parser: Locked<Parser>

    init(_ parser: Parser) {
        self.parser = Locked(parser)
    }

    /// Parses a line, a part of a line, or `nil` for the end, and returns the element that it completes, if any.
    ///
    /// - Throws: An error if an element is too large; the parser then stops.
    func read(_ line: Data?) throws(RequestError) -> Parser.Element? {
        let (element, failure) = parser.withLock { parser in
            let elements = line.map { parser.feed($0) } ?? parser.finish()
            return (elements.first, parser.failure)
        }
        if element == nil, let failure { throw failure }
        return element
    }
}

extension ResponseStream {
    /// Unavailable, because the stream itself is the sequence of its chunks.
    @available(*, unavailable, message: "iterate over the stream itself: for try await chunk in stream")
    public var bytes: ResponseStream { self }
}

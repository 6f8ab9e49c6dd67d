// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a response as it arrives: an asynchronous sequence of pieces, in the sizes of the network.
///
/// ```swift
/// for try await chunk in stream { try file.write(contentsOf: chunk) }
/// ```
///
/// Pieces that haven't been consumed are buffered. If there are too many, the transfer is paused, if the transport can
/// (``TransportCapabilities/pausing``); otherwise, a consumer that is much slower than the network ends with an error
/// of code `bufferFull`.
///
/// It is consumed once, by one task: a second iteration continues where the first stopped, and fails with the code
/// `alreadyConsumed` if that was the end. The same applies to its ``lines`` and other elements: one loop may read a
/// head line by line, and another the rest, as values or as pieces. Releasing the stream before its end cancels the
/// transfer.
public final class ResponseStream: AsyncSequence, Sendable {
    /// A piece of the content.
    public typealias Element = Data

    /// The status and the headers.
    public let head: HTTPResponseHead
    let core: StreamCore

    init(_ head: HTTPResponseHead, _ core: StreamCore) {
        (self.head, self.core) = (head, core)
    }

    /// Creates a stream of given chunks, for tests of its consumers.
    public convenience init(_ chunks: [Data], head: HTTPResponseHead = HTTPResponseHead(status: .ok)) {
        self.init(head, StreamCore(of: chunks, in: ReceivingContext(head)))
    }

    deinit {
        core.cancel()
    }

    /// Returns a stream of the same content: the first of them that is deallocated ends both.
    func newReference() -> ResponseStream { ResponseStream(head, core) }

    /// Returns when the stream has been consumed to its end, or was abandoned; called once.
    ///
    /// - Throws: The error of the transfer, even if its consumer hasn't read the content before it yet.
    func waitUntilOver() async throws(RequestError) {
        let error = await withTaskCancellationHandler {
            await core.isOver.value()
        } onCancel: {
            core.cancel()
        }
        if let error { throw error }
    }

    /// Reads the content that is left, as much as an error may have, and abandons the rest.
    ///
    /// A transfer that fails or takes too long ends the content.
    ///
    /// - Throws: The error of the consumer: its task is cancelled, or another loop consumes the stream.
    func errorBody() async throws(RequestError) -> Data {
        let limit = core.context.maximumErrorBodySize
        var (body, iterator) = (Data(), makeAsyncIterator())
        let timer = DelayedAction(after: Transfer.maximumErrorContentTime, on: ContinuousClock()) { [core] in core.end(nil) }
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

    /// Begins to consume, or continues.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Consumes a ``ResponseStream``.
    public struct Iterator: AsyncIteratorProtocol {
        // The compiler of Swift 6.3 crashes on `try? await stream.reduce(…)` if this is another type.
        /// Any error: each error that a loop throws is a ``RequestError``.
        public typealias Failure = any Error
        private let stream: ResponseStream
        private var hasBegun = false

        fileprivate init(_ stream: ResponseStream) {
            self.stream = stream
        }

        /// The next piece; `nil` at the end.
        ///
        /// - Throws: The error that ended the transfer before its content was complete. The code is `cancelled` in a
        ///   cancelled task, and `alreadyConsumed` if another loop has the content.
        public mutating func next() async throws(RequestError) -> Data? {
            defer { hasBegun = true }
            return try await stream.core.next(isFirst: !hasBegun)
        }

        /// The bytes up to the end of the next line, or the available part of it; `nil` at the end.
        mutating func nextLine() async throws(RequestError) -> Data? {
            defer { hasBegun = true }
            return try await stream.core.next(.line, isFirst: !hasBegun)
        }
    }
}

/// A parser, shared by successive iterations waitUntilOver a stream.
final class ElementReader<Parser: StreamParser>: Sendable {
    private let parser: Locked<Parser>

    init(_ parser: Parser) {
        self.parser = Locked(parser)
    }

    /// Reads a line or a part of one, or the end, which is `nil`, and returns the completed element.
    ///
    /// - Throws: An error for an element that is too large, which ends the reading.
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
    /// Refuses the name of another library.
    @available(*, unavailable, message: "the stream is the sequence: for try await chunk in stream")
    public var bytes: ResponseStream { self }
}

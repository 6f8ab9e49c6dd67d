// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a response as it comes: an asynchronous sequence of pieces, each as large as the network makes it.
///
/// ```swift
/// for try await chunk in stream { try file.write(contentsOf: chunk) }
/// ```
///
/// Pieces that nobody has asked for yet are buffered, and the server is held back when there are too many, where the
/// transport can (``TransportCapabilities/pausing``); where it can't, a consumer that is much slower than the network
/// ends with an error of code `bufferFull`. It is consumed once, by one task: a second iteration goes on where the first
/// stopped. Letting go of the stream before its end cancels the transfer.
public final class ResponseStream: AsyncSequence, Sendable {
    /// A piece of the content.
    public typealias Element = Data

    /// The status and the headers.
    public let head: HTTPResponseHead
    private let core: StreamCore

    init(_ head: HTTPResponseHead, _ core: StreamCore) {
        self.head = head
        self.core = core
    }

    /// Makes a stream of pieces that are there, for tests of what consumes one.
    public convenience init(_ chunks: [Data], head: HTTPResponseHead = HTTPResponseHead(status: .ok)) {
        let core = StreamCore(limit: .max / 4) { _ in }
        for chunk in chunks { try? core.put(chunk) }
        core.end(nil)
        self.init(head, core)
    }

    deinit {
        core.abandon()
    }

    /// A stream of the same content: whichever of them is let go of first ends both.
    func handedOver() -> ResponseStream { ResponseStream(head, core) }

    /// Returns when the stream has been consumed to its end, or nobody wants the rest.
    func over() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in core.whenOver { continuation.resume() } }
        } onCancel: {
            core.cancel()
        }
    }

    /// The status.
    public var status: HTTPStatus { head.status }
    /// The header fields.
    public var headers: HTTPHeaders { head.headers }

    /// Begins to consume, or goes on.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Consumes a ``ResponseStream``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: ResponseStream

        /// The next piece; nil at the end.
        ///
        /// - Throws: What ended the transfer before its content was complete, and `CancellationError` in a cancelled
        ///   task.
        public func next() async throws -> Data? { try await stream.core.next() }
    }
}

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
    /// Makes the JSON decoder if the consumer has none: that of the environment.
    let makeDecoder: @Sendable () -> JSONDecoder
    let core: StreamCore

    init(_ head: HTTPResponseHead, _ core: StreamCore, makeDecoder: @escaping @Sendable () -> JSONDecoder) {
        self.head = head
        self.core = core
        self.makeDecoder = makeDecoder
    }

    /// Makes a stream of given pieces, for tests of its consumers.
    public convenience init(_ chunks: [Data], head: HTTPResponseHead = HTTPResponseHead(status: .ok)) {
        self.init(head, StreamCore(of: chunks)) { JSONDecoder() }
    }

    deinit {
        core.abandon()
    }

    /// Returns a stream of the same content: the first of them that is deallocated ends both.
    func handedOver() -> ResponseStream { ResponseStream(head, core, makeDecoder: makeDecoder) }

    /// Returns when the stream has been consumed to its end, or was abandoned.
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
            return try await stream.core.nextPiece(isFirst: !hasBegun)
        }

        /// The bytes up to the end of the next line, or the available part of it; `nil` at the end.
        mutating func nextLine() async throws(RequestError) -> Data? {
            defer { hasBegun = true }
            return try await stream.core.nextLine(isFirst: !hasBegun)
        }
    }
}

/// The state that a stream's producer and its consumer share.
final class StreamCore: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Data?, RequestError>, Never>

    private struct State: Sendable {
        var buffer: StreamBuffer<Waiter>
        var pauses = Level()
        var isOver = false
        var observers: [@Sendable () -> Void] = []

        mutating func close() -> [@Sendable () -> Void] {
            isOver = true
            defer { observers = [] }
            return observers
        }
    }

    private let state: Locked<State>
    private let rest = Locked(StreamRest())
    private let setPaused: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - limit: The number of unconsumed bytes above which the transfer pauses.
    ///   - setPaused: Pauses and resumes the transfer; called by one thread at a time.
    init(limit: Int, setPaused: @escaping @Sendable (Bool) -> Void) {
        self.setPaused = setPaused
        state = Locked(State(buffer: StreamBuffer(limit: limit)))
    }

    /// Makes the core of a stream that has all its pieces.
    convenience init(of chunks: [Data]) {
        self.init(limit: .max / 4) { _ in }
        for chunk in chunks { try? put(chunk) }
        end(nil)
    }

    // MARK: Produce

    func put(_ data: Data) throws(RequestError) {
        perform(try state.withLock { state throws(RequestError) in try state.buffer.put(data) })
    }

    func end(_ error: RequestError?) {
        perform(state.withLock { $0.buffer.end(error) })
    }

    // MARK: Consume

    func next(isFirst: Bool = false) async throws(RequestError) -> Data? {
        switch rest.withLock({ $0.take() }) {
        case .bytes(let data): return data
        case .end: return nil
        case nil: break
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                perform(state.withLock { $0.buffer.take(waiter, isFirst: isFirst) })
            }
        } onCancel: {
            abandon()
        }
        return try result.get()
    }

    /// The next piece, without the LF of a CR LF whose CR ended a line that was read before.
    func nextPiece(isFirst: Bool) async throws(RequestError) -> Data? {
        guard let piece = try await next(isFirst: isFirst) else { return nil }
        let bytes = rest.withLock { $0.behindLine(piece) }
        return bytes.isEmpty ? try await next() : bytes
    }

    /// The bytes up to the end of the next line, or those of it that are there; the rest of a piece is for the next
    /// call.
    func nextLine(isFirst: Bool) async throws(RequestError) -> Data? {
        guard let piece = try await next(isFirst: isFirst) else { return nil }
        return rest.withLock { $0.cut(piece) }
    }

    /// Lets the next iteration find the end that this one has read, which came with a last element.
    func keepEnd() {
        rest.withLock { $0.isAtEnd = true }
    }

    /// The reader of the last iteration over elements, if it was of the same kind, or else a new one.
    func reader<Parser: StreamParser>(_ makeParser: () -> Parser) -> ElementReader<Parser> {
        let new = ElementReader(makeParser())
        return rest.withLock { rest in
            if let known = rest.reader as? ElementReader<Parser> { return known }
            rest.reader = new
            return new
        }
    }

    /// Abandons the rest of the stream.
    func abandon() {
        perform(state.withLock { $0.buffer.abandon() })
        close()
    }

    /// Ends the stream, because the operation is over: what arrived before the transfer ended can still be consumed.
    func cancel() {
        if !state.withLock({ $0.buffer.hasEnded }) { abandon() }
    }

    /// Calls `body` when the stream has been consumed to its end, or was abandoned; at once, if it already is.
    func whenOver(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.observers.append(body) }
            return state.isOver
        }
        if isOver { body() }
    }

    private func close() {
        for observer in state.withLock({ $0.close() }) { observer() }
    }

    private func perform(_ action: StreamBuffer<Waiter>.Action) {
        while let isPaused = state.withLock({ $0.pauses.next($0.buffer.isFull) }) {
            setPaused(isPaused)
            state.withLock { $0.pauses.endPassing() }
        }
        guard let (waiter, reply) = action.reply else { return }
        switch reply {
        case .chunk(let data):
            waiter.resume(returning: .success(data))
        case .end:
            close()
            waiter.resume(returning: .success(nil))
        case .failure(let error):
            close()
            waiter.resume(returning: .failure(error))
        }
    }
}

/// The state that one iteration over a stream leaves to the next: unread bytes of a piece, and the position.
private struct StreamRest: Sendable {
    /// The portion to take before anything else.
    enum Portion: Sendable {
        case bytes(Data)
        case end
    }

    /// The reader of elements.
    var reader: (any AnyObject & Sendable)?
    /// Whether the end is yet to be delivered.
    var isAtEnd = false
    private var bytes = Data()
    private var cutEndsInCarriageReturn = false

    mutating func take() -> Portion? {
        if !bytes.isEmpty {
            defer { bytes = Data() }
            return .bytes(bytes)
        }
        defer { isAtEnd = false }
        return isAtEnd ? .end : nil
    }

    /// Keeps all of a piece but its first line, and returns that line.
    ///
    /// - Complexity: O(n) in the length of the line.
    mutating func cut(_ piece: Data) -> Data {
        let length = piece.withUnsafeBytes { piece in
            guard let end = piece.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
                return piece.count
            }
            return end + (piece[end...].starts(with: "\r\n".utf8) ? 2 : 1)
        }
        bytes = piece.dropFirst(length)
        let line = piece.prefix(length)
        cutEndsInCarriageReturn = line.last == UInt8(ascii: "\r")
        return line
    }

    /// A piece for a caller that reads no lines, from its first byte on, whose index is zero.
    mutating func behindLine(_ piece: Data) -> Data {
        defer { cutEndsInCarriageReturn = false }
        guard cutEndsInCarriageReturn, piece.first == UInt8(ascii: "\n") else {
            return piece.startIndex == 0 ? piece : Data(piece)
        }
        return Data(piece.dropFirst())
    }
}

/// A parser, shared by successive iterations over a stream.
final class ElementReader<Parser: StreamParser>: Sendable {
    private let parser: Locked<Parser>

    init(_ parser: Parser) {
        self.parser = Locked(parser)
    }

    /// Reads a line or a part of one, or the end, which is `nil`: returns the completed element, and the error that
    /// ends the reading.
    func read(_ line: Data?) -> (element: Parser.Element?, failure: RequestError.OversizedElement?) {
        parser.withLock { parser in
            let elements = line.map { parser.feed($0) } ?? parser.finish()
            return (elements.first, parser.failure)
        }
    }
}

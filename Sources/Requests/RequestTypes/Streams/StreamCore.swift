// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state that a stream's producer and its consumer share.
final class StreamCore: ContentReceiver {
    typealias Buffer = StreamBuffer<CheckedContinuation<Result<Data?, RequestError>, Never>>

    private struct State: Sendable {
        var buffer: Buffer
        /// The number of received bytes.
        var count: Int64 = 0
        var pauses = LatestFlag()
        /// The reader of the last iteration over elements.
        var reader: (any AnyObject & Sendable)?
    }

    /// Filled when the stream has been consumed to its end or was abandoned, and by an error of the transfer.
    let isOver = OneShot<RequestError?>()
    let context: ReceivingContext
    private let state: Locked<State>
    private let maximum: Int
    private let setPaused: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - limit: The number of unconsumed bytes above which the transfer pauses.
    ///   - maximum: The number of bytes above which the stream fails.
    ///   - context: The settings and the facts of the operation.
    ///   - setPaused: Pauses and resumes the transfer; called by one thread at a time.
    init(limit: Int, maximum: Int = .max, in context: ReceivingContext, setPaused: @escaping @Sendable (Bool) -> Void) {
        (self.maximum, self.context, self.setPaused) = (maximum, context, setPaused)
        state = Locked(State(buffer: Buffer(limit: limit)))
    }

    /// Creates the core of a stream that has all its chunks.
    convenience init(of chunks: [Data], in context: ReceivingContext) {
        self.init(limit: .max / 4, in: context) { _ in }
        for chunk in chunks { try? receive(chunk) }
        end(nil)
    }

    // MARK: Produce

    var count: Int64? { state.withLock { $0.count } }

    func receive(_ data: Data) throws(RequestError) {
        let due = try state.withLock { state throws(RequestError) in
            state.count += Int64(data.count)
            guard state.count <= maximum else {
                throw RequestError(.bodyTooLarge, phase: .receiving, reason: "more than \(maximum) bytes")
            }
            return try state.buffer.put(data)
        }
        perform(due)
    }

    func end(_ error: RequestError?) {
        context.freeze()
        perform(state.withLock { $0.buffer.end(error) })
        if error != nil { close() }
    }

    /// Whether the content ends with an error of the transfer.
    var hasFailed: Bool { state.withLock { $0.buffer.failure } != nil }

    // MARK: Consume

    /// Returns the next portion; `nil` at the end.
    ///
    /// - Throws: The error of the transfer or of the consumer, with all that is known about the operation.
    func next(_ portion: Buffer.Portion = .piece, isFirst: Bool = false) async throws(RequestError) -> Data? {
        do {
            return try await take(portion, isFirst: isFirst)
        } catch {
            throw context.addContext(to: error)
        }
    }

    private func take(_ portion: Buffer.Portion, isFirst: Bool) async throws(RequestError) -> Data? {
        if Task.isCancelled { abandon() }
        if let reply = state.withLock({ $0.buffer.take(portion, isFirst: isFirst) }) {
            follow(reply)
            return try reply.get()
        }
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                perform(state.withLock { $0.buffer.take(portion, isFirst: isFirst, for: waiter) })
            }
        } onCancel: {
            abandon()
        }
        return try reply.get()
    }

    /// Lets the next iteration find the end that this one has read, which came with a last element.
    func keepEnd() {
        state.withLock { $0.buffer.keepEnd() }
    }

    /// The reader of the last iteration over elements, if it was of the same kind, or else a new one.
    func reader<Parser: StreamParser>(_ makeParser: () -> Parser) -> ElementReader<Parser> {
        let new = ElementReader(makeParser())
        return state.withLock { state in
            if let known = state.reader as? ElementReader<Parser> { return known }
            state.reader = new
            return new
        }
    }

    /// Abandons the rest of the stream.
    func abandon() {
        perform(state.withLock { $0.buffer.abandon() })
        close()
    }

    /// Ends the stream, because its operation or its consumer is gone: what arrived before the transfer ended can still
    /// be consumed.
    func cancel() {
        if state.withLock({ $0.buffer.hasEnded }) { close() } else { abandon() }
    }

    private func perform(_ due: Buffer.Delivery?) {
        follow(due?.reply)
        if let (waiter, reply) = due { waiter.resume(returning: reply) }
    }

    /// Pauses or resumes the transfer, and closes the stream if a reply is its end.
    private func follow(_ reply: Buffer.Reply?) {
        state.drain(next: { $0.pauses.next($0.buffer.isFull) }, completed: { $0.pauses.didEmit() }, perform: setPaused)
        switch reply {
        case .success(nil)?: close()
        // The stream goes on for its first consumer.
        case .failure(let error)?: if error.code != .alreadyConsumed { close() }
        case .success(_?)?, nil: break
        }
    }

    /// Lets the operation end, with the error of the transfer, if it has one.
    private func close() { isOver.fill(state.withLock { $0.buffer.failure }) }
}

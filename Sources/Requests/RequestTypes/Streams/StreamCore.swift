// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state that the producer and the consumer of a stream share.
final class StreamCore: ContentReceiver {
    typealias Buffer = StreamBuffer<CheckedContinuation<Result<Data?, RequestError>, Never>>

    private struct State: Sendable {
        var buffer: Buffer
        /// The number of bytes received.
        var count: Int64 = 0
        var pauseFlag = LatestFlag()
        /// The reader of the last iteration over elements.
        var reader: (any AnyObject & Sendable)?
    }

    /// Completes when the stream has been consumed to its end or was abandoned, or when its transfer fails.
    let completion = OneShot<RequestError?>()
    let context: ReceivingContext
    private let state: Locked<State>
    private let maximum: Int
    private let setPaused: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - limit: The number of unconsumed bytes above which the transfer pauses.
    ///   - maximum: The number of bytes above which the stream fails.
    ///   - context: The context of the operation, for decoding and for errors.
    ///   - setPaused: Pauses or resumes the transfer.
    init(limit: Int, maximum: Int = .max, in context: ReceivingContext, setPaused: @escaping @Sendable (Bool) -> Void) {
        (self.maximum, self.context, self.setPaused) = (maximum, context, setPaused)
        state = Locked(State(buffer: Buffer(limit: limit)))
    }

    /// Creates the core of a stream whose chunks have all been received.
    convenience init(of chunks: [Data], in context: ReceivingContext) {
        self.init(limit: .max / 4, in: context) { _ in }
        for chunk in chunks { try? receive(chunk) }
        end(nil)
    }

    // MARK: Produce

    var count: Int64? { state.withLock { $0.count } }

    func receive(_ data: Data) throws(RequestError) {
        let delivery = try state.withLock { state throws(RequestError) in
            state.count += Int64(data.count)
            guard state.count <= maximum else {
                throw RequestError(.bodyTooLarge, phase: .receiving, reason: "the content exceeds \(maximum) bytes")
            }
            return try state.buffer.put(data)
        }
        perform(delivery)
    }

    func end(_ error: RequestError?) {
        context.freeze()
        perform(state.withLock { $0.buffer.end(error) })
        if error != nil { close() }
    }

    /// Whether the content ends with a transfer error.
    var hasFailed: Bool { state.withLock { $0.buffer.failure } != nil }

    // MARK: Consume

    /// Returns the next portion; `nil` at the end.
    ///
    /// - Throws: The error of the transfer or the consumer, with the context of the operation.
    func next(_ portion: Buffer.Portion = .chunk, isFirstCall: Bool = false) async throws(RequestError) -> Data? {
        do {
            return try await take(portion, isFirstCall: isFirstCall)
        } catch {
            throw context.addContext(to: error)
        }
    }

    private func take(_ portion: Buffer.Portion, isFirstCall: Bool) async throws(RequestError) -> Data? {
        if Task.isCancelled { abandon() }
        if let reply = state.withLock({ $0.buffer.take(portion, isFirstCall: isFirstCall) }) {
            handleReply(reply)
            return try reply.get()
        }
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                perform(state.withLock { $0.buffer.take(portion, isFirstCall: isFirstCall, for: waiter) })
            }
        } onCancel: {
            abandon()
        }
        return try reply.get()
    }

    /// Lets the next iteration receive the end, which this iteration received together with a last element.
    func restoreEnd() {
        state.withLock { $0.buffer.restoreEnd() }
    }

    /// Returns the reader of the last iteration if its parser is of this type, and otherwise a new reader.
    func reader<Parser: StreamParser>(_ makeParser: () -> Parser) -> ElementReader<Parser> {
        let new = ElementReader(makeParser())
        return state.withLock { state in
            if let existing = state.reader as? ElementReader<Parser> { return existing }
            state.reader = new
            return new
        }
    }

    /// Abandons the rest of the stream.
    func abandon() {
        perform(state.withLock { $0.buffer.abandon() })
        close()
    }

    /// Ends the stream, because its operation or its consumer no longer exists.
    ///
    /// If the transfer has already ended, the received content can still be consumed.
    func cancel() {
        if state.withLock({ $0.buffer.hasEnded }) { close() } else { abandon() }
    }

    private func perform(_ delivery: Buffer.Delivery?) {
        handleReply(delivery?.reply)
        if let (waiter, reply) = delivery { waiter.resume(returning: reply) }
    }

    /// Pauses or resumes the transfer, and closes the stream if the reply ends it.
    private func handleReply(_ reply: Buffer.Reply?) {
        state.drain(
            next: { $0.pauseFlag.next($0.buffer.isFull) },
            completed: { $0.pauseFlag.didEmit() },
            perform: setPaused
        )
        switch reply {
        case .success(nil)?: close()
        // After `alreadyConsumed`, the stream stays open for its first consumer.
        case .failure(let error)?: if error.code != .alreadyConsumed { close() }
        case .success(_?)?, nil: break
        }
    }

    /// Lets the operation finish, with the transfer's error if there is one.
    private func close() { completion.fill(state.withLock { $0.buffer.failure }) }
}

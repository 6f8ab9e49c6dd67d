// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The received bytes of a stream that aren't consumed, and the waiting consumer.
///
/// The transfer pauses when more than `limit` bytes are buffered, and resumes when half of them are consumed. Bytes
/// that arrive in spite of a pause are kept up to some MiB, or a second `limit`, and beyond that the stream fails: the
/// buffer is bounded, and no bytes are dropped.
struct StreamBuffer<Waiter: Sendable>: Sendable {
    /// The reply to the waiting consumer.
    enum Reply: Sendable {
        case chunk(Data)
        case end
        case failure(RequestError)
    }

    /// The action after a change.
    struct Action: Sendable {
        var reply: (waiter: Waiter, reply: Reply)?
    }

    let limit: Int
    private var chunks: [Data] = []
    private var next = 0
    private var size = 0
    /// Whether the transfer is to pause.
    private(set) var isFull = false
    private var waiter: Waiter?
    private var ending: Reply?
    /// Whether a consumer has received the end.
    private var isConsumed = false

    /// The number of bytes that may still arrive from a paused transport: those that it has read, and is reading.
    private static var overrun: Int { 3 << 20 }

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a piece.
    ///
    /// - Throws: An error of code `bufferFull` if the consumer is too slow, and the transport can't pause.
    mutating func put(_ data: Data) throws(RequestError) -> Action {
        guard ending == nil, !data.isEmpty else { return Action() }
        if let waiter {
            self.waiter = nil
            return Action(reply: (waiter, .chunk(data)))
        }
        // A single chunk may be of any size.
        guard size == 0 || size + data.count <= limit + max(limit, Self.overrun) else {
            throw RequestError(.bufferFull, phase: .receiving, reason: "more than \(size) bytes wait to be consumed")
        }
        chunks.append(data)
        size += data.count
        if size > limit { isFull = true }
        return Action()
    }

    /// Ends the stream behind the received bytes; only the first end counts.
    mutating func end(_ error: RequestError?) -> Action {
        guard ending == nil else { return Action() }
        let reply = error.map(Reply.failure) ?? .end
        ending = reply
        isConsumed = waiter != nil
        defer { waiter = nil }
        return Action(reply: waiter.map { ($0, reply) })
    }

    /// Whether nothing more comes.
    var hasEnded: Bool { ending != nil }

    /// Ends the stream at once, and discards the rest.
    mutating func abandon() -> Action {
        // A consumer that asks nevertheless mustn't take the received part for the whole.
        if case .end? = ending, !chunks.isEmpty { ending = .failure(.abandonedStream) }
        chunks = []
        (next, size) = (0, 0)
        guard ending == nil else { return Action() }
        return end(.abandonedStream)
    }

    /// Returns the next piece, or makes the consumer wait for it.
    ///
    /// A stream has one consumer at a time, and one end. A consumer that comes while another waits, or begins behind
    /// the end, gets an error rather than an empty stream.
    ///
    /// - Parameters:
    ///   - newcomer: The consumer.
    ///   - isFirst: Whether this is its first request.
    /// - Returns: The action to perform.
    mutating func take(_ newcomer: Waiter, isFirst: Bool = false) -> Action {
        guard waiter == nil else { return Action(reply: (newcomer, .failure(.consumedStream))) }
        if next < chunks.count {
            let chunk = chunks[next]
            chunks[next] = Data()
            next += 1
            size -= chunk.count
            if next == chunks.count { (chunks, next) = ([], 0) }
            if size <= limit / 2 { isFull = false }
            return Action(reply: (newcomer, .chunk(chunk)))
        }
        if let ending {
            if case .end = ending, isFirst, isConsumed {
                return Action(reply: (newcomer, .failure(.consumedStream)))
            }
            isConsumed = true
            return Action(reply: (newcomer, ending))
        }
        waiter = newcomer
        return Action()
    }
}

extension RequestError {
    /// The error of a consumer whose task is cancelled, or that continues after the stream was abandoned.
    fileprivate static var abandonedStream: RequestError {
        RequestError(.cancelled, phase: .receiving, underlying: CancellationError())
    }

    fileprivate static var consumedStream: RequestError {
        let reason = "another loop consumes the stream, or has consumed it, and its content isn't kept"
        return RequestError(.alreadyConsumed, phase: .receiving, reason: reason)
    }
}

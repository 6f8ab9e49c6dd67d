// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The received bytes of a stream that aren't consumed, and the waiting consumer.
///
/// The transfer pauses when more than `limit` bytes are buffered, and resumes when half of them are consumed. Bytes
/// that arrive in spite of a pause are kept up to some MiB, or a second `limit`, and beyond that the stream fails: the
/// buffer is bounded, and no bytes are dropped.
struct StreamBuffer<Waiter: Sendable>: Sendable {
    /// The reply to a consumer: content, the end, which is `nil`, or an error.
    typealias Reply = Result<Data?, RequestError>
    /// The waiting consumer, and the reply to it.
    typealias Delivery = (waiter: Waiter, reply: Reply)

    /// The amount that a consumer asks for.
    enum Portion: Sendable {
        /// A piece in the size of the network; behind a line that a CR ended, without the LF of a CR LF.
        case piece
        /// The bytes up to the end of the next line, or the available part of it.
        case line
    }

    let limit: Int
    private var chunks = FIFO<Data>()
    /// The rest of the chunk whose lines are being taken.
    private var rest: Data?
    private var size = 0
    /// Whether the transfer is to pause.
    private(set) var isFull = false
    private var waiting: (waiter: Waiter, portion: Portion)?
    private var ending: Reply?
    /// Whether a consumer has received the end.
    private var isConsumed = false
    /// Whether the last portion was a line that a CR ended, or may have ended.
    private var endsInCarriageReturn = false

    /// The number of bytes that may still arrive from a paused transport: those that it has read, and is reading.
    private static var overrun: Int { 3 << 20 }

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a piece.
    ///
    /// - Throws: An error of code `bufferFull` if the consumer is too slow, and the transport can't pause.
    mutating func put(_ data: Data) throws(RequestError) -> Delivery? {
        guard ending == nil, !data.isEmpty else { return nil }
        guard let (waiter, portion) = waiting else {
            // A single chunk may be of any size.
            guard size == 0 || size + data.count <= limit + max(limit, Self.overrun) else {
                let reason = "more than \(size) bytes wait to be consumed"
                throw RequestError(.bufferFull, phase: .receiving, reason: reason)
            }
            keep(data)
            return nil
        }
        let (content, rest) = split(data, portion)
        if !rest.isEmpty { keep(rest) }
        guard !content.isEmpty else { return nil }
        waiting = nil
        return (waiter, .success(content))
    }

    private mutating func keep(_ data: Data) {
        chunks.append(data)
        size += data.count
        if size > limit { isFull = true }
    }

    /// Ends the stream behind the received bytes; only the first end counts.
    mutating func end(_ error: RequestError?) -> Delivery? {
        guard ending == nil else { return nil }
        let reply: Reply = error.map { .failure($0) } ?? .success(nil)
        ending = reply
        isConsumed = waiting != nil
        defer { waiting = nil }
        return waiting.map { ($0.waiter, reply) }
    }

    /// Whether nothing more comes.
    var hasEnded: Bool { ending != nil }

    /// The error with which the content ends; `nil` if there is none, or the consumer has abandoned the content.
    var failure: RequestError? {
        if case .failure(let error)? = ending, error.code != .cancelled { error } else { nil }
    }

    /// Ends the stream at once, and discards the rest.
    mutating func abandon() -> Delivery? {
        // A consumer that asks nevertheless mustn't take the received part for the whole.
        if case .success? = ending, size > 0 { ending = .failure(.abandonedStream) }
        (chunks, rest, size) = (FIFO(), nil, 0)
        return end(.abandonedStream)
    }

    /// Returns the next portion, or makes the consumer wait for it.
    mutating func take(_ portion: Portion = .piece, isFirst: Bool = false, for waiter: Waiter) -> Delivery? {
        if let reply = take(portion, isFirst: isFirst) { return (waiter, reply) }
        waiting = (waiter, portion)
        return nil
    }

    /// Returns the next portion; `nil` if the consumer has to wait.
    ///
    /// A stream has one consumer at a time, and one end. A consumer that comes while another waits, or begins behind
    /// the end, gets an error rather than an empty stream.
    ///
    /// - Parameters:
    ///   - portion: The amount.
    ///   - isFirst: Whether this is the first request of the consumer.
    /// - Returns: The reply.
    mutating func take(_ portion: Portion, isFirst: Bool) -> Reply? {
        guard waiting == nil else { return .failure(.consumedStream) }
        while let chunk = rest ?? chunks.popFirst() {
            let (content, rest) = split(chunk, portion)
            self.rest = rest.isEmpty ? nil : rest
            size -= chunk.count - rest.count
            if size <= limit / 2 { isFull = false }
            if !content.isEmpty { return .success(content) }
        }
        guard let ending else { return nil }
        if case .success = ending, isFirst, isConsumed { return .failure(.consumedStream) }
        isConsumed = true
        return ending
    }

    /// Lets the next consumer find the end that this one has received, together with a last element.
    mutating func keepEnd() {
        isConsumed = false
    }

    /// Splits off the first portion of a chunk, which may be empty.
    ///
    /// - Complexity: O(n) in the length of the portion.
    private mutating func split(_ chunk: Data, _ portion: Portion) -> (content: Data, rest: Data) {
        guard portion == .line else {
            defer { endsInCarriageReturn = false }
            let content = endsInCarriageReturn && chunk.first == UInt8(ascii: "\n") ? chunk.dropFirst() : chunk
            // From the first byte on, whose index is zero.
            return (content.startIndex == 0 ? content : Data(content), Data())
        }
        let length = chunk.withUnsafeBytes { chunk in
            guard let end = chunk.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
                return chunk.count
            }
            return end + (chunk[end...].starts(with: "\r\n".utf8) ? 2 : 1)
        }
        let line = chunk.prefix(length)
        endsInCarriageReturn = line.last == UInt8(ascii: "\r")
        return (line, chunk.dropFirst(length))
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The received but unconsumed bytes of a stream, and the waiting consumer.
///
/// The transfer pauses when more than `limit` bytes are buffered, and resumes when half of them are consumed. Bytes
/// that arrive despite a pause are also buffered, up to a few more MiB, or up to `limit` more bytes if that is larger.
/// Beyond that, the stream fails, so the buffer is bounded, and no bytes are dropped.
struct StreamBuffer<Waiter: Sendable>: Sendable {
    /// The reply to a consumer: content, `nil` for the end, or an error.
    typealias Reply = Result<Data?, RequestError>
    /// A waiting consumer, and the reply to deliver to it.
    typealias Delivery = (waiter: Waiter, reply: Reply)

    /// The amount that a consumer requests.
    enum Portion: Sendable {
        /// A chunk, as large as the network delivered it. After a line that ended with CR, the LF of a CR LF is
        /// skipped.
        case chunk
        /// The bytes up to the end of the next line, or the available part of it.
        case line
    }

    let limit: Int
    private var chunks = FIFO<Data>()
    /// The rest of the chunk that is being read line by line.
    private var rest: Data?
    private var size = 0
    /// Whether the transfer should pause.
    private(set) var isFull = false
    private var waiting: (waiter: Waiter, portion: Portion)?
    private var ending: Reply?
    /// Whether a consumer has received the end.
    private var isEndDelivered = false
    /// Whether the last portion was a line, or a part of a line, that ends with CR.
    private var endsInCarriageReturn = false

    /// The number of bytes that may still arrive from a paused transport, because it has read them, or is reading them.
    private static var maximumOverrun: Int { 3 << 20 }

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Delivers a chunk to the waiting consumer, or buffers it.
    ///
    /// - Throws: An error with the code `bufferFull` if the consumer is too slow, and the transport can't pause.
    mutating func put(_ data: Data) throws(RequestError) -> Delivery? {
        guard ending == nil, !data.isEmpty else { return nil }
        guard let (waiter, portion) = waiting else {
            // A single chunk may be of any size.
            guard size == 0 || size + data.count <= limit + max(limit, Self.maximumOverrun) else {
                let reason = "more than \(size) bytes are waiting to be consumed"
                throw RequestError(.bufferFull, phase: .receiving, reason: reason)
            }
            enqueue(data)
            return nil
        }
        let (content, rest) = split(data, portion)
        if !rest.isEmpty { enqueue(rest) }
        guard !content.isEmpty else { return nil }
        waiting = nil
        return (waiter, .success(content))
    }

    private mutating func enqueue(_ data: Data) {
        chunks.append(data)
        size += data.count
        if size > limit { isFull = true }
    }

    /// Ends the stream after the received bytes; only the first call counts.
    mutating func end(_ error: RequestError?) -> Delivery? {
        guard ending == nil else { return nil }
        let reply: Reply = error.map { .failure($0) } ?? .success(nil)
        ending = reply
        isEndDelivered = waiting != nil
        defer { waiting = nil }
        return waiting.map { ($0.waiter, reply) }
    }

    /// Whether no more bytes can arrive.
    var hasEnded: Bool { ending != nil }

    /// The error that ends the content; `nil` if there is none, or the consumer has abandoned the content.
    var failure: RequestError? {
        if case .failure(let error)? = ending, error.code != .cancelled { error } else { nil }
    }

    /// Ends the stream immediately, and discards the unconsumed bytes.
    mutating func abandon() -> Delivery? {
        // If the consumer keeps reading, it must not mistake the received part for the entire content.
        if case .success? = ending, size > 0 { ending = .failure(.abandonedStream) }
        (chunks, rest, size) = (FIFO(), nil, 0)
        return end(.abandonedStream)
    }

    /// Returns the next portion, or makes the consumer wait for it.
    mutating func take(_ portion: Portion = .chunk, isFirstCall: Bool = false, for waiter: Waiter) -> Delivery? {
        if let reply = take(portion, isFirstCall: isFirstCall) { return (waiter, reply) }
        waiting = (waiter, portion)
        return nil
    }

    /// Returns the next portion; `nil` if the consumer must wait.
    ///
    /// A stream has only one consumer at a time, and one end. If another consumer is waiting, or has received the end,
    /// the reply is an error rather than an empty stream.
    ///
    /// - Parameters:
    ///   - portion: The amount to return.
    ///   - isFirstCall: Whether this is the consumer's first call.
    /// - Returns: The reply.
    mutating func take(_ portion: Portion, isFirstCall: Bool) -> Reply? {
        guard waiting == nil else { return .failure(.consumedStream) }
        while let chunk = rest ?? chunks.popFirst() {
            let (content, rest) = split(chunk, portion)
            self.rest = rest.isEmpty ? nil : rest
            size -= chunk.count - rest.count
            if size <= limit / 2 { isFull = false }
            if !content.isEmpty { return .success(content) }
        }
        guard let ending else { return nil }
        if case .success = ending, isFirstCall, isEndDelivered { return .failure(.consumedStream) }
        isEndDelivered = true
        return ending
    }

    /// Lets the next consumer receive the end, which this consumer received together with a last element.
    mutating func restoreEnd() {
        isEndDelivered = false
    }

    /// Splits a chunk into its first portion, which may be empty, and the rest.
    ///
    /// - Complexity: O(n) in the length of the portion.
    private mutating func split(_ chunk: Data, _ portion: Portion) -> (content: Data, rest: Data) {
        guard portion == .line else {
            defer { endsInCarriageReturn = false }
            let content = endsInCarriageReturn && chunk.first == UInt8(ascii: "\n") ? chunk.dropFirst() : chunk
            // Copy the content unless its indices begin at 0.
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
    /// The error for a consumer whose task is cancelled, or that continues after the stream was abandoned.
    fileprivate static var abandonedStream: RequestError {
        RequestError(.cancelled, phase: .receiving, underlying: CancellationError())
    }

    fileprivate static var consumedStream: RequestError {
        let reason = "another loop is consuming the stream, or has consumed it, and the content isn't kept"
        return RequestError(.alreadyConsumed, phase: .receiving, reason: reason)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The encoded frames that a socket has yet to send.
///
/// The buffer is small, or as large as a single message requires.
struct WebSocketOutput: Sendable {
    private let masksFrames: Bool
    private var bytes: [UInt8] = []
    /// The number of bytes at the beginning that were already read.
    private var readCount = 0
    /// The number of pongs appended since the last time that no pong was pending, and the end offset of the last pong.
    private var (pongCount, pongEnd) = (0, 0)
    /// The reply to the last ping, if too many pongs are pending.
    ///
    /// Only the last ping needs a reply (RFC 6455, 5.5.3), so a flood of pings uses no memory.
    private var deferredPong: Data?

    /// The maximum number of pending pongs, in addition to the deferred pong.
    private static let maximumQueuedPongs = 32
    /// The maximum capacity that is kept for the next message.
    private static let maximumKeptCapacity = 64 * 1024

    init(masksFrames: Bool) {
        self.masksFrames = masksFrames
    }

    /// The number of pending bytes.
    var count: Int { bytes.count - readCount }

    mutating func append(_ opcode: WebSocketFrame.Opcode, _ payload: Data) {
        if readCount > Self.maximumKeptCapacity, readCount > bytes.count / 2 {
            bytes.removeFirst(readCount)
            (pongEnd, readCount) = (pongEnd - readCount, 0)
        }
        // Use the system's random numbers, not the caller's, because a mask must be unpredictable (RFC 6455, 10.3), and
        // the caller's code must not run here, under the lock of the socket.
        let mask = masksFrames ? UInt32.random(in: .min ... .max) : nil
        WebSocketFrame(opcode, payload, mask: mask).append(to: &bytes)
    }

    /// Appends the reply to a ping, or defers it.
    mutating func appendPong(_ payload: Data) {
        if pongEnd <= readCount { pongCount = 0 }
        guard pongCount < Self.maximumQueuedPongs else { return deferredPong = payload }
        append(.pong, payload)
        (pongCount, pongEnd) = (pongCount + 1, bytes.count)
    }

    /// Appends the last frame; no pong follows it.
    mutating func appendClose(_ payload: Data) {
        deferredPong = nil
        append(.close, payload)
    }

    /// Moves bytes into a buffer, and returns their number.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, count)
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[readCount..<readCount + count]))
        }
        readCount += count
        if readCount == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.count <= Self.maximumKeptCapacity)
            (readCount, pongEnd) = (0, 0)
        }
        if pongEnd <= readCount, let payload = deferredPong.take() { appendPong(payload) }
        return count
    }
}

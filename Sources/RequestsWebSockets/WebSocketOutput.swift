// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The bytes that a socket has to send, as frames: few, or as many as one message needs.
struct WebSocketOutput: Sendable {
    private let masks: Bool
    private var bytes: [UInt8] = []
    /// The number of bytes that were taken from the beginning.
    private var taken = 0
    /// The number of pongs that were appended since all of them were taken, and the end of the last one.
    private var (pongCount, pongEnd) = (0, 0)
    /// The answer to the last ping, if too many wait: only the last one has to be answered (RFC 6455, 5.5.3), and a
    /// flood of pings needs no memory.
    private var laterPong: Data?

    /// The maximum number of pongs that wait, besides the last one.
    private static let mostPongs = 32
    /// The number of bytes above which memory isn't kept for the next message.
    private static let keptCapacity = 64 * 1024

    init(masks: Bool) {
        self.masks = masks
    }

    /// The number of bytes that wait.
    var count: Int { bytes.count - taken }

    mutating func append(_ opcode: WebSocketFrame.Opcode, _ payload: Data) {
        if taken > Self.keptCapacity, taken > bytes.count / 2 {
            bytes.removeFirst(taken)
            (pongEnd, taken) = (pongEnd - taken, 0)
        }
        // The system's random numbers, not the caller's: a mask must be unpredictable (RFC 6455, 10.3), and a caller's
        // code mustn't run here, under the lock of the socket.
        let mask = masks ? UInt32.random(in: .min ... .max) : nil
        WebSocketFrame(opcode, payload, mask: mask).append(to: &bytes)
    }

    /// Answers a ping.
    mutating func appendPong(_ payload: Data) {
        if pongEnd <= taken { pongCount = 0 }
        guard pongCount < Self.mostPongs else { return laterPong = payload }
        append(.pong, payload)
        (pongCount, pongEnd) = (pongCount + 1, bytes.count)
    }

    /// Appends the last frame: no pong follows.
    mutating func appendClose(_ payload: Data) {
        laterPong = nil
        append(.close, payload)
    }

    /// Moves bytes into a buffer, and returns their number.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, count)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        taken += count
        if taken == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.count <= Self.keptCapacity)
            (taken, pongEnd) = (0, 0)
        }
        if pongEnd <= taken, let payload = laterPong.take() { appendPong(payload) }
        return count
    }
}

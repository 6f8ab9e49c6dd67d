// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A WebSocket frame (RFC 6455, 5.2).
package struct WebSocketFrame: Sendable {
    /// The kind of a frame.
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        /// Whether the frame controls the connection, and may come between the fragments of a message.
        var isControl: Bool { rawValue >= 8 }
    }

    /// The first byte: the opcode and the flags.
    package var firstByte: UInt8
    package var payload: Data
    /// The masking key; `nil` for a frame of a server.
    package var mask: UInt32?

    /// Creates a frame; `reserved` contains the three bits for extensions.
    package init(
        _ opcode: Opcode,
        _ payload: Data = Data(),
        isFinal: Bool = true,
        reserved: UInt8 = 0,
        mask: UInt32? = nil
    ) {
        firstByte = (isFinal ? 0x80 : 0) | (reserved & 7) << 4 | opcode.rawValue
        (self.payload, self.mask) = (payload, mask)
    }

    /// Appends the bytes of the frame.
    package func append(to bytes: inout [UInt8]) {
        let (count, flag) = (payload.count, mask == nil ? 0 : 0x80 as UInt8)
        bytes.append(firstByte)
        switch count {
        case 0...125: bytes.append(flag | UInt8(count))
        case 126...0xFFFF: bytes += [flag | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            bytes.append(flag | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        guard let mask else { return bytes.append(contentsOf: payload) }
        for shift in stride(from: 0, through: 24, by: 8) { bytes.append(UInt8(truncatingIfNeeded: mask >> shift)) }
        let start = bytes.count
        bytes.append(contentsOf: payload)
        bytes.withUnsafeMutableBytes { Self.apply(mask, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }

    /// Masks or unmasks bytes (RFC 6455, 5.3), eight at a time.
    ///
    /// - Parameters:
    ///   - mask: The masking key; its lowest byte is the first on the wire.
    ///   - bytes: The bytes.
    ///   - position: The position of the first byte in the payload.
    static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer, at position: Int = 0) {
        let rotation = UInt32(position % 4 * 8)
        let key = rotation == 0 ? mask : mask >> rotation | mask << (32 - rotation)
        let wideKey = (UInt64(key) << 32 | UInt64(key)).littleEndian
        let end = bytes.count - bytes.count % 8
        for start in stride(from: 0, to: end, by: 8) {
            let masked = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self) ^ wideKey
            bytes.storeBytes(of: masked, toByteOffset: start, as: UInt64.self)
        }
        for index in end..<bytes.count { bytes[index] ^= UInt8(truncatingIfNeeded: key >> UInt32(index % 4 * 8)) }
    }
}

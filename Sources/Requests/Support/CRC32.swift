// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The checksum of ISO 3309, which finds every change of up to 32 neighbouring bits: against damage, not malice.
struct CRC32: Sendable {
    private var state = UInt32.max

    /// The checksum of what was added.
    var value: UInt32 { ~state }

    /// Adds bytes.
    ///
    /// - Complexity: O(n) in their number.
    mutating func update(_ data: Data) {
        state = Self.table.withUnsafeBufferPointer { table in
            data.withUnsafeBytes { bytes in
                var state = state
                for byte in bytes { state = state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] }
                return state
            }
        }
    }

    private static let table: [UInt32] = (0..<256).map { (byte: UInt32) in
        (0..<8).reduce(byte) { value, _ in value >> 1 ^ (value & 1) &* 0xEDB8_8320 }
    }
}

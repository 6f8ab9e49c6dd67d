// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The checksum of ISO 3309, which finds every change of up to 32 neighbouring bits: against damage, not attacks.
package enum CRC32 {
    /// The checksum of the bytes of all parts, in their order.
    ///
    /// - Complexity: O(n) in the number of bytes.
    package static func checksum(of parts: Data...) -> UInt32 {
        let state = table.withUnsafeBufferPointer { table in
            parts.reduce(UInt32.max) { state, part in
                part.withUnsafeBytes { bytes in
                    var state = state
                    for byte in bytes { state = state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] }
                    return state
                }
            }
        }
        return ~state
    }

    private static let table: [UInt32] = (0..<256).map { (byte: UInt32) in
        (0..<8).reduce(byte) { value, _ in value >> 1 ^ (value & 1) &* 0xEDB8_8320 }
    }
}

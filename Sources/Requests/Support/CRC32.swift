// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The CRC-32 checksum (ISO 3309), which protects against damage, but not against attacks.
///
/// The checksum detects any change within 32 adjacent bits.
package enum CRC32 {
    /// Returns the checksum of the concatenated parts.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// MD5 (RFC 1321), which `Digest` challenges of old servers still require although it is broken.
///
/// Nothing else in the library uses MD5.
package enum MD5 {
    /// Returns the 16-byte digest of the bytes.
    ///
    /// - Complexity: O(n) in the number of bytes.
    package static func digest(of bytes: some Sequence<UInt8>) -> Data {
        let start: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        return BlockDigest.digest(of: bytes, from: start, isBigEndian: false, compress)
    }

    private static func compress(_ block: ArraySlice<UInt32>, _ state: [UInt32]) -> [UInt32] {
        let words = Array(block)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, word): (UInt32, Int) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mixed &+ constants[step] &+ words[word]
            (a, d, c, b) = (d, c, b, b &+ sum.rotated(32 - shifts[step / 16][step % 4]))
        }
        return [a, b, c, d]
    }

    private static let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
    private static let constants = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// SHA-1 (FIPS 180-4), with which a server proves that it has read the key of a WebSocket handshake (RFC 6455, 4.2.2).
///
/// SHA-1 is broken, and isn't used for security here.
package enum SHA1 {
    package static func digest(of data: Data) -> Data {
        let start: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        return BlockDigest.digest(of: data, from: start, compress)
    }

    // FIPS 180-4, 6.1.2.
    private static func compress(_ block: ArraySlice<UInt32>, _ state: [UInt32]) -> [UInt32] {
        var words = Array(block)
        for t in 16..<80 { words.append((words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotated(32 - 1)) }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let mixed: UInt32
            switch t / 20 {
            case 0: mixed = (b & c | ~b & d) &+ 0x5A82_7999
            case 1: mixed = (b ^ c ^ d) &+ 0x6ED9_EBA1
            case 2: mixed = (b & c | b & d | c & d) &+ 0x8F1B_BCDC
            default: mixed = (b ^ c ^ d) &+ 0xCA62_C1D6
            }
            (a, b, c, d, e) = (a.rotated(32 - 5) &+ mixed &+ e &+ words[t], a, b.rotated(32 - 30), c, d)
        }
        return [a, b, c, d, e]
    }
}

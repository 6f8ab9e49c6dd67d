// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// SHA-1 (FIPS 180-4), with which a server proves that it has read the key of a WebSocket handshake.
///
/// It isn't used for security.
enum SHA1 {
    static func digest(of data: Data) -> Data {
        var bytes = [UInt8](data) + [0x80]
        bytes += [UInt8](repeating: 0, count: (119 - data.count % 64) % 64)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: (data.count * 8) >> shift))
        }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: bytes.count, by: 64) { compress(bytes[start..<start + 64], into: &state) }
        return Data(state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    // 6.1.2
    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for t in 16..<80 { words.append((words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotated(1)) }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let mixed: UInt32
            switch t / 20 {
            case 0: mixed = (b & c | ~b & d) &+ 0x5A82_7999
            case 1: mixed = (b ^ c ^ d) &+ 0x6ED9_EBA1
            case 2: mixed = (b & c | b & d | c & d) &+ 0x8F1B_BCDC
            default: mixed = (b ^ c ^ d) &+ 0xCA62_C1D6
            }
            (a, b, c, d, e) = (a.rotated(5) &+ mixed &+ e &+ words[t], a, b.rotated(30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}

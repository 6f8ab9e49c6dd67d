// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The common part of MD5 (RFC 1321, 3), SHA-1 and SHA-512 (FIPS 180-4, 5 and 6).
enum BlockDigest {
    /// Pads a message to blocks of 16 words, with its length in bits as the last two words, and adds the result of
    /// `compress` for each block to the state.
    ///
    /// - Complexity: O(n).
    static func digest<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        of bytes: some Sequence<UInt8>,
        from start: [Word],
        isBigEndian: Bool = true,
        _ compress: (_ block: ArraySlice<Word>, _ state: [Word]) -> [Word]
    ) -> Data {
        var message = Array(bytes)
        let bits = UInt64(message.count) &* 8
        message.append(0x80)
        let size = Word.bitWidth / 8
        while message.count % (16 * size) != 14 * size { message.append(0) }
        func ordered(_ word: Word) -> Word { isBigEndian ? word.bigEndian : word.littleEndian }
        var words = message.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: size).map { start in
                ordered(bytes.loadUnaligned(fromByteOffset: start, as: Word.self))
            }
        }
        let length = [Word(truncatingIfNeeded: bits >> Word.bitWidth), Word(truncatingIfNeeded: bits)]
        words += isBigEndian ? length : length.reversed()
        var state = start
        for block in stride(from: 0, to: words.count, by: 16) {
            state = zip(state, compress(words[block..<block + 16], state)).map { $0 &+ $1 }
        }
        return state.map(ordered).withUnsafeBytes { Data($0) }
    }
}

// Two functions, since a generic one makes SHA-256 twice as slow without optimization.

extension UInt32 {
    /// The bits, rotated to the right; `rotated(32 - count)` rotates them to the left by `count`.
    func rotated(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 - count) }
}

extension UInt64 {
    /// The bits, rotated to the right.
    func rotated(_ count: UInt64) -> UInt64 { self &>> count | self &<< (64 - count) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The block processing that MD5 (RFC 1321, 3), SHA-1 and SHA-512 (FIPS 180-4, 5 and 6) share.
enum BlockDigest {
    /// Returns the digest of a message, computed block by block.
    ///
    /// The message is padded to blocks of 16 words, and its length in bits becomes the last two words. For each block,
    /// the result of `compress` is added to the state. The final state is the digest.
    ///
    /// - Complexity: O(n) in the number of bytes.
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

// In unoptimized builds, a single generic function would make SHA-256 twice as slow as these two functions.

extension UInt32 {
    /// Returns the bits rotated to the right; `rotated(32 - count)` rotates them to the left by `count`.
    func rotated(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 - count) }
}

extension UInt64 {
    /// Returns the bits rotated to the right.
    func rotated(_ count: UInt64) -> UInt64 { self &>> count | self &<< (64 - count) }
}

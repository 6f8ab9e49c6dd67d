// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Compressed content as `Content-Encoding: gzip` has it (RFC 1952; RFC 9110, 8.4.1.3).
enum Gzip {
    /// Compresses bytes; nil where the platform can't.
    ///
    /// The same bytes give the same result: no time and no system is named in it.
    ///
    /// - Complexity: O(n) in their number.
    static func compress(_ data: Data) -> Data? {
        Deflate.compress(data).map { frame($0, of: data) }
    }

    /// Puts the frame around bytes that are compressed.
    static func frame(_ deflated: Data, of original: Data) -> Data {
        var checksum = CRC32()
        checksum.update(original)
        var result = Data(capacity: header.count + deflated.count + 8)
        result.append(contentsOf: header)
        result.append(deflated)
        // The size is modulo 2^32, which is what is left when higher bits go.
        for number in [checksum.value, UInt32(truncatingIfNeeded: original.count)] {
            withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) }
        }
        return result
    }

    /// The magic number, DEFLATE, no flags, no time, nothing about the effort, an unknown system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if os(Linux)
import CRequestsCurl
#endif

/// Compressed content for `Content-Encoding: gzip` (RFC 1952; RFC 9110, 8.4.1.3), with the platform's implementation of
/// DEFLATE: Foundation on Apple platforms, and zlib on Linux.
///
/// On Linux, zlib is loaded at run time. Foundation needs it too, so nothing has to be installed or linked.
enum Gzip {
    /// Whether compression is available; it isn't in a statically linked program on Linux.
    static var isAvailable: Bool { compress(Data([0])) != nil }

    /// Compresses bytes; `nil` if the platform can't.
    ///
    /// The same bytes give the same result: the frame contains no time and no system.
    ///
    /// - Complexity: O(n) in their number.
    static func compress(_ data: Data) -> Data? {
        #if canImport(Darwin)
        // The algorithm called zlib is DEFLATE alone there, without zlib's frame.
        let deflated = (try? (data as NSData).compressed(using: .zlib)).map { $0 as Data }
        #elseif os(Linux)
        let deflated = deflate(data)
        #else
        let deflated: Data? = nil
        #endif
        return deflated.map { frame($0, of: data) }
    }

    #if os(Linux)
    private static func deflate(_ data: Data) -> Data? {
        var output = Data(count: ccoding_bound(data.count))
        let count = output.withUnsafeMutableBytes { output in
            data.withUnsafeBytes { ccoding_deflate($0.baseAddress, $0.count, output.baseAddress, output.count) }
        }
        // Two bytes before and four behind are zlib's own frame (RFC 1950).
        return count < 6 ? nil : output.subdata(in: 2..<count - 4)
    }
    #endif

    /// Puts the frame around compressed bytes.
    static func frame(_ deflated: Data, of original: Data) -> Data {
        var result = Data(capacity: header.count + deflated.count + 8)
        result.append(contentsOf: header)
        result.append(deflated)
        // The size is modulo 2^32: the higher bits are dropped.
        for number in [CRC32.checksum(of: original), UInt32(truncatingIfNeeded: original.count)] {
            withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) }
        }
        return result
    }

    /// The magic number, DEFLATE, no flags, no time, no level, an unknown system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if os(Linux)
import CRequestsCurl
#endif

/// Compression for `Content-Encoding: gzip` (RFC 1952; RFC 9110, 8.4.1.3).
///
/// DEFLATE is provided by Foundation on Apple platforms, and by zlib on Linux. There, zlib is loaded at run time.
/// Foundation needs zlib, too, so it needn't be installed or linked separately.
enum Gzip {
    /// Whether compression is available, which isn't the case in statically linked programs on Linux.
    static var isAvailable: Bool { compress(Data([0])) != nil }

    /// Compresses bytes; returns `nil` if compression isn't available.
    ///
    /// The result is deterministic, because the header contains neither a time nor an operating system.
    ///
    /// - Complexity: O(n) in the number of bytes.
    static func compress(_ data: Data) -> Data? {
        #if canImport(Darwin)
        // Foundation's algorithm `zlib` is plain DEFLATE, without the header and trailer of zlib.
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
        // Remove zlib's own header of two bytes and trailer of four bytes (RFC 1950).
        return count < 6 ? nil : output.subdata(in: 2..<count - 4)
    }
    #endif

    /// Adds the gzip header and trailer to compressed bytes.
    static func frame(_ deflated: Data, of original: Data) -> Data {
        var result = Data(capacity: header.count + deflated.count + 8)
        result.append(contentsOf: header)
        result.append(deflated)
        // The trailer contains the checksum and the original size, modulo 2^32.
        for number in [CRC32.checksum(of: original), UInt32(truncatingIfNeeded: original.count)] {
            withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) }
        }
        return result
    }

    /// The gzip header: the magic number, DEFLATE, no flags, no time, no level, and an unknown operating system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Compressed content, made by hand (RFC 1950 to 1952): without a library, and as extreme as the format allows.
enum Deflate {
    /// A gzip file of the bytes, which aren't compressed but stored.
    static func gzip(_ bytes: Data) -> Data {
        let count = UInt16(bytes.count)
        var data = gzipHead + [0x01] + count.bytes + (~count).bytes + bytes
        data += crc32(bytes).bytes + UInt32(bytes.count).bytes
        return data
    }

    /// A gzip file of several members, since one that isn't compressed holds 64 KiB.
    static func gzip(members bytes: Data) -> Data {
        stride(from: 0, to: bytes.count, by: 60_000).reduce(into: Data()) { data, start in
            data += gzip(bytes[start..<min(start + 60_000, bytes.count)])
        }
    }

    /// Makes a zlib stream of zeros, about a thousandth of their size: the maximum of the format.
    ///
    /// - Returns: The stream, and the number of zeros in it, which is about `count`.
    static func zeros(about count: Int) -> (data: Data, count: Int) {
        let (deflated, count) = deflatedZeros(about: count)
        // Adler-32 of zeros: the first sum stays 1, the second counts the bytes.
        let checksum = UInt32(count % 65_521) << 16 | 1
        return (Data([0x78, 0xDA]) + deflated + checksum.bigEndian.bytes, count)
    }

    /// Makes the beginning of a gzip file of zeros, without its end.
    static func gzipBomb(of count: Int) -> Data {
        gzipHead + deflatedZeros(about: count).data
    }

    /// Makes a complete gzip file of zeros.
    ///
    /// - Returns: The file, and the number of zeros in it, which is about `count`.
    static func gzipOfZeros(about count: Int) -> (data: Data, count: Int) {
        let (deflated, count) = deflatedZeros(about: count)
        return (gzipHead + deflated + crc32(zeros: count).bytes + UInt32(truncatingIfNeeded: count).bytes, count)
    }

    /// Makes a zstd frame of zeros (RFC 8878): each block is one byte, repeated 128 Ki times.
    static func zstdOfZeros(blocks: Int) -> (data: Data, count: Int) {
        let size = 128 << 10
        var data = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3])
        for number in 1...blocks {
            let head = UInt32(size << 3 | 1 << 1 | (number == blocks ? 1 : 0))
            data += head.bytes.prefix(3) + [0]
        }
        return (data, blocks * size)
    }

    private static let gzipHead = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    /// Makes one block whose only frequent symbol, "258 bytes as the one before", takes one bit, as does its distance:
    /// four of them are a byte of zeros.
    private static func deflatedZeros(about count: Int) -> (data: Data, count: Int) {
        var bits = Bits()
        bits.append(1, 1)  // the last block
        bits.append(2, 2)  // with codes of its own
        bits.append(286 - 257, 5)
        bits.append(0, 5)
        bits.append(19 - 4, 4)
        // The lengths of the codes in which the lengths are written: 18 is one bit, 1 and 2 are two.
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0] { bits.append(length, 3) }
        func repeatZero(_ count: Int) {
            bits.append(0, 1)
            bits.append(count - 11, 7)
        }
        let (one, two) = ([1, 0], [1, 1])
        bits.append(two)  // symbol 0
        repeatZero(138)
        repeatZero(117)
        bits.append(two)  // symbol 256, the end
        repeatZero(28)
        bits.append(one)  // symbol 285
        bits.append(one)  // distance 1
        bits.append([1, 0])  // one zero
        bits.append([0, 0, 0, 0])  // two matches, up to the end of the byte
        let bytes = count / (4 * 258)
        bits.appendZeros(bytes)
        bits.append([1, 1])
        return (bits.data, 1 + (2 + bytes * 4) * 258)
    }

    private static func crc32(_ bytes: Data) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }

    /// Returns the checksum of `count` zeros: the effect of one zero is linear, and can be squared.
    private static func crc32(zeros count: Int) -> UInt32 {
        func apply(_ columns: [UInt32], _ value: UInt32) -> UInt32 {
            columns.enumerated().reduce(0) { value >> UInt32($1.offset) & 1 == 1 ? $0 ^ $1.element : $0 }
        }
        // One zero bit shifts all the others.
        var power: [UInt32] = [0xEDB8_8320] + (0..<31).map { 1 << $0 }
        var (crc, rest) = (UInt32.max, count * 8)
        while rest > 0 {
            if rest & 1 == 1 { crc = apply(power, crc) }
            power = power.map { apply(power, $0) }
            rest >>= 1
        }
        return ~crc
    }

    /// Bits, beginning with the lowest of the first byte.
    private struct Bits {
        private(set) var data = Data()
        private var free = 0

        mutating func append(_ bits: [Int]) {
            for bit in bits {
                if free == 0 {
                    data.append(0)
                    free = 8
                }
                data[data.endIndex - 1] |= UInt8(bit << (8 - free))
                free -= 1
            }
        }

        mutating func append(_ value: Int, _ count: Int) {
            append((0..<count).map { value >> $0 & 1 })
        }

        mutating func appendZeros(_ count: Int) {
            data.append(Data(count: count))
        }
    }
}

extension FixedWidthInteger {
    /// The bytes, the lowest first.
    fileprivate var bytes: Data { withUnsafeBytes(of: littleEndian) { Data($0) } }
}
#endif

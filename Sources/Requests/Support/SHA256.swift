// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// SHA-256 (FIPS 180-4), for pins of public keys and digests of files.
///
/// The algorithm is implemented here because Foundation has no hash functions on Linux, and the library has no other
/// dependency. Use it only for public data, because its running time depends on the input.
package struct SHA256: Sendable {
    private var state = SHA512.initialState.map { UInt32($0 >> 32) }
    /// The buffered bytes that don't fill a block yet.
    private var rest: [UInt8] = []
    /// The number of bits in the processed blocks.
    private var length: UInt64 = 0

    /// Returns the 32-byte digest of the bytes.
    package static func digest(of bytes: some Sequence<UInt8>) -> Data {
        var hash = SHA256()
        hash.update(Data(bytes))
        return hash.finish()
    }

    /// Returns the digest of a file, which is read in chunks.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - shouldContinue: Returns whether to continue; called before each chunk.
    /// - Returns: The digest, or `nil` if `shouldContinue` returned `false`.
    /// - Throws: The error of the system if the file can't be read.
    static func digest(ofFile url: URL, shouldContinue: () -> Bool = { true }) throws -> Data? {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        var hash = SHA256()
        while shouldContinue() {
            guard let bytes = try file.readChunk() else { return hash.finish() }
            hash.update(bytes)
        }
        return nil
    }

    private mutating func update(_ bytes: Data) {
        let bytes = rest + bytes
        let end = bytes.count - bytes.count % 64
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: end, by: 64) { compress(bytes[start..<start + 64]) }
        }
        length &+= UInt64(end) &* 8
        rest = Array(bytes[end...])
    }

    private mutating func finish() -> Data {
        // Pad the message to full blocks with a 1 bit, zeros, and the length in bits (FIPS 180-4, 5.1.1).
        let bits = length &+ UInt64(rest.count) &* 8
        let zeros = (119 - rest.count) % 64
        update(Data([0x80] + [UInt8](repeating: 0, count: zeros) + Self.bytes(of: bits)))
        return Data(state.flatMap(Self.bytes))
    }

    // FIPS 180-4, 6.2.2.
    private mutating func compress(_ block: Slice<UnsafeRawBufferPointer>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            for t in 0..<16 {
                let word = block.loadUnaligned(fromByteOffset: 4 * t, as: UInt32.self)
                schedule.initializeElement(at: t, to: UInt32(bigEndian: word))
            }
            for t in 16..<64 {
                let s0 = schedule[t - 15].rotated(7) ^ schedule[t - 15].rotated(18) ^ schedule[t - 15] &>> 3
                let s1 = schedule[t - 2].rotated(17) ^ schedule[t - 2].rotated(19) ^ schedule[t - 2] &>> 10
                schedule.initializeElement(at: t, to: s1 &+ schedule[t - 7] &+ s0 &+ schedule[t - 16])
            }
            Self.constants.withUnsafeBufferPointer { mix(UnsafeBufferPointer(schedule), $0) }
        }
    }

    private mutating func mix(_ schedule: UnsafeBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for t in 0..<64 {
            let sum1 = e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)
            let t1 = h &+ sum1 &+ (e & f ^ ~e & g) &+ constants[t] &+ schedule[t]
            let sum0 = a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)
            let t2 = sum0 &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    // The constants are the first 32 bits of the SHA-512 constants, because both come from the same prime numbers (FIPS
    // 180-4, 4.2.2 and 4.2.3).
    private static let constants = SHA512.constants.prefix(64).map { UInt32($0 >> 32) }
}

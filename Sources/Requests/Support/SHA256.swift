// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// SHA-256 (FIPS 180-4), the digest for pins of public keys.
///
/// Foundation has no digest on Linux, and the library has no other dependency. It is for public data: its time depends
/// on the input.
package struct SHA256: Sendable {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes that don't fill a block yet.
    private var rest: [UInt8] = []
    private var length: UInt64 = 0

    /// The digest of bytes: 32 of them.
    package static func digest(of bytes: some Sequence<UInt8>) -> Data {
        var hash = SHA256()
        hash.update(Data(bytes))
        return hash.finish()
    }

    /// The digest of a file, which is read piece by piece.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - isWanted: Whether to continue; called before each piece.
    /// - Returns: The digest; `nil` if it isn't wanted any more.
    /// - Throws: The error of the system if the file can't be read.
    static func digest(ofFile url: URL, isWanted: () -> Bool = { true }) throws -> Data? {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        var hash = SHA256()
        while isWanted() {
            guard let bytes = try file.nextPiece() else { return hash.finish() }
            hash.update(bytes)
        }
        return nil
    }

    private mutating func update(_ bytes: Data) {
        length &+= UInt64(bytes.count) &* 8
        bytes.withUnsafeBytes { bytes in
            var bytes = bytes[...]
            if !rest.isEmpty {
                let missing = bytes.prefix(64 - rest.count)
                rest += missing
                bytes = bytes.dropFirst(missing.count)
                guard rest.count == 64 else { return }
                rest.withUnsafeBytes { compress($0[...]) }
                rest = []
            }
            while bytes.count >= 64 {
                compress(bytes.prefix(64))
                bytes = bytes.dropFirst(64)
            }
            rest += bytes
        }
    }

    private mutating func finish() -> Data {
        // 5.1.1: a one, zeros, and the length in bits, up to the end of a block.
        let zeros = (119 - rest.count) % 64
        update(Data([0x80] + [UInt8](repeating: 0, count: zeros) + Self.bytes(of: length)))
        return Data(state.flatMap(Self.bytes))
    }

    // 6.2.2
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

    // 4.2.2
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 - count) }
}

// MARK: - Pieces

extension FileHandle {
    /// The next 256 KiB of a file, or the rest of it; `nil` at its end.
    ///
    /// - Throws: The error of the system.
    func nextPiece() throws -> Data? {
        #if canImport(Darwin)
        // The bytes would be kept until the thread's own pool is emptied, which may be after the last piece.
        let bytes = try autoreleasepool { try read(upToCount: 1 << 18) }
        #else
        let bytes = try read(upToCount: 1 << 18)
        #endif
        return bytes?.isEmpty == false ? bytes : nil
    }
}

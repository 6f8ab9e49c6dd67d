// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Checks a text as it arrives, piece by piece (RFC 3629, 4).
struct UTF8Check: Sendable {
    /// The number of bytes that the current character still lacks.
    private var missing = 0
    /// The bytes that may come next within a character.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text may end here.
    var isComplete: Bool { missing == 0 }

    /// Takes bytes; returns `false` if no valid text begins like this.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            while missing == 0, index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            { index += 8 }
            guard index < bytes.count else { break }
            guard accepts(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard next.contains(byte) else { return false }
            (missing, next) = (missing - 1, 0x80...0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: missing = 1
        // Neither overlong encodings nor surrogates.
        case 0xE0: (missing, next) = (2, 0xA0...0xBF)
        case 0xED: (missing, next) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        // Nothing beyond U+10FFFF.
        case 0xF0: (missing, next) = (3, 0x90...0xBF)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, next) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}

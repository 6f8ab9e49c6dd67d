// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The character classes of RFC 9110, for bytes.
package enum ASCII {
    /// Whether a byte is allowed in a token: a method, a header name (RFC 9110, 5.6.2).
    package static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Whether a byte is allowed in a field value: visible characters, space, tab, and the bytes above ASCII that old
    /// servers and file names use (RFC 9110, 5.5).
    ///
    /// CR, LF, NUL and every other control character aren't.
    package static func isFieldValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == 0x09
    }

    /// Whether a byte is a digit.
    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    /// Whether a byte is a letter.
    package static func isLetter(_ byte: UInt8) -> Bool {
        lowercased(byte) &- UInt8(ascii: "a") < 26
    }

    /// The byte in lower case if it is an upper-case letter, otherwise unchanged.
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
}

extension UInt8 {
    /// The value of the byte as a hexadecimal digit of either case.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The offset of the first byte of a value.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}

extension Sequence<UInt8> {
    /// The bytes as two hexadecimal digits each.
    var hexadecimal: String {
        var text: [UInt8] = []
        for byte in self {
            for digit in [byte >> 4, byte & 0xF] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// Whether the string is a token (RFC 9110, 5.6.2): not empty, and made of token characters only.
    package var isToken: Bool {
        !utf8.isEmpty && hasOnly(ASCII.isToken)
    }

    // Names and values of all fields are checked for every request: through the storage, this takes half of the time.
    /// Whether all bytes of the string fulfil a condition.
    @inline(__always)
    func hasOnly(_ isAllowed: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isAllowed) } ?? utf8.allSatisfy(isAllowed)
    }

    /// Compares two strings like protocol text: bytes, with ASCII letters of either case equal.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var others = other.utf8.makeIterator()
        for byte in utf8 {
            guard let other = others.next(), ASCII.lowercased(byte) == ASCII.lowercased(other) else { return false }
        }
        return true
    }

    /// At most `limit` characters of the string, for messages with strings from a caller or a server.
    ///
    /// Control characters are shown escaped, so that a message can't forge lines of a log.
    package func shortened(to limit: Int = 64) -> String {
        let head = unicodeScalars.prefix(limit).map {
            $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0)
        }
        return head.joined() + (unicodeScalars.dropFirst(limit).isEmpty ? "" : "…")
    }
}

// MARK: - UTF8

extension String {
    /// Reads UTF-8; `nil` if the bytes are invalid.
    ///
    /// The standard library's own `init(validating:as:)` requires newer systems than this library.
    ///
    /// - Complexity: O(n) in the number of the bytes.
    init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Invalid UTF-8 was repaired, so its bytes differ.
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}

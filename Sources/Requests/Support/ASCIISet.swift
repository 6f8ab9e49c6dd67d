// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A set of ASCII characters, as bytes.
///
/// A set is either the character class of a protocol element, such as a token, or the characters that a component of a
/// URL allows without percent-encoding (RFC 3986, 2.1).
package struct ASCIISet: Sendable, Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// Whether all non-ASCII bytes are members, too.
    private var containsNonASCII = false

    /// Creates a set of characters; non-ASCII characters are ignored.
    package init(_ characters: some StringProtocol) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte & 63) }
        }
    }

    /// Returns whether the byte is a member.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte & 63) & 1 == 1
        default: containsNonASCII
        }
    }

    // The names and values of all fields of each request are checked here. Accessing the contiguous storage halves the
    // time.
    /// Returns whether all UTF-8 bytes of a string are members.
    package func containsAll(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(contains) } ?? text.utf8.allSatisfy(contains)
    }

    /// Returns the union of two sets.
    package static func + (lhs: ASCIISet, rhs: ASCIISet) -> ASCIISet {
        var set = lhs
        set.low |= rhs.low
        set.high |= rhs.high
        set.containsNonASCII = lhs.containsNonASCII || rhs.containsNonASCII
        return set
    }

    /// Returns the set with characters added.
    package static func + (lhs: ASCIISet, rhs: String) -> ASCIISet { lhs + ASCIISet(rhs) }

    /// Returns the set with characters removed.
    func removing(_ characters: String) -> ASCIISet {
        let removed = ASCIISet(characters)
        var set = self
        set.low &= ~removed.low
        set.high &= ~removed.high
        return set
    }

    /// All non-ASCII bytes.
    private static let nonASCII: ASCIISet = {
        var set = ASCIISet("")
        set.containsNonASCII = true
        return set
    }()
}

// MARK: - Classes

extension ASCIISet {
    /// The ASCII digits.
    package static let digits = ASCIISet("0123456789")
    /// The ASCII letters and digits.
    package static let alphanumerics = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    /// The characters of a token, such as a method or a field name (RFC 9110, 5.6.2).
    package static let token = alphanumerics + "!#$%&'*+-.^_`|~"
    /// The characters of a field value (RFC 9110, 5.5).
    ///
    /// These are the visible characters, the space, the tab, and the non-ASCII bytes that old servers and file names
    /// use. CR, LF, NUL and all other control characters aren't members.
    package static let fieldValue = visible + " \t" + nonASCII
    /// The visible ASCII characters.
    static let visible = token + "\"(),/:;<=>?@[\\]{}"
    /// The characters of an extended parameter that aren't escaped, that is, `attr-char` (RFC 8187, 3.2.1).
    static let extendedValue = alphanumerics + "!#$&+-.^_`|~"
    /// The characters of a host with a port (RFC 3986, 3.2.2), including an IPv6 address in brackets.
    static let host = alphanumerics + "-._:[]~%"
    /// The characters of a host name label or a language tag.
    static let label = alphanumerics + "-"

    /// The unreserved characters (RFC 3986, 2.3), which never delimit a component of a URL.
    static let unreserved = alphanumerics + "-._~"
    /// All characters that a URL may contain, unreserved and reserved (RFC 3986, 2.2).
    static let address = query + "#[]"
    /// The characters of a scheme (RFC 3986, 3.1).
    static let scheme = alphanumerics + "+-."
    /// The characters of a path, including the slashes (RFC 3986, 3.3).
    static let path = unreserved + ":/@!$&'()*+,;="
    /// The characters of an entire query, including the separators of its items (RFC 3986, 3.4).
    static let query = path + "?"
    /// The characters of a name or a value in a query, in which `/` and `?` have no special meaning (RFC 3986, 3.4).
    static let queryItem = unreserved + "/?"
    /// The characters of a name or a value in a form (WHATWG URL, application/x-www-form-urlencoded percent-encode
    /// set).
    static let form = alphanumerics + "-._*"
}

/// Functions for single ASCII characters, as bytes.
package enum ASCII {
    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    package static func isLetter(_ byte: UInt8) -> Bool {
        lowercased(byte) &- UInt8(ascii: "a") < 26
    }

    /// Returns whether a byte is a space or a tab.
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Returns the byte in lowercase if it is an uppercase letter, otherwise unchanged.
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
}

// MARK: - Hexadecimal

extension UInt8 {
    /// The value of the byte as a hexadecimal digit of either case; `nil` if it isn't a hexadecimal digit.
    var hexValue: UInt8? {
        if ASCII.isDigit(self) { return self - UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// Returns the hexadecimal digit for a number below 16.
    @inlinable
    func hexDigit(uppercase: Bool = false) -> UInt8 {
        self + (self < 10 ? UInt8(ascii: "0") : uppercase ? UInt8(ascii: "A") - 10 : UInt8(ascii: "a") - 10)
    }
}

extension Sequence<UInt8> {
    /// The bytes as a string with two hexadecimal digits per byte.
    @inlinable
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append((byte >> 4).hexDigit())
            digits.append((byte & 15).hexDigit())
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

// MARK: - Text

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence of a byte, or `nil` if there is none.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}

extension StringProtocol {
    /// Whether the string is a token (RFC 9110, 5.6.2), that is, not empty, and with token characters only.
    package var isToken: Bool { !isEmpty && ASCIISet.token.containsAll(self) }

    /// Whether the string is a valid field value, without CR, LF, NUL or another control character except the tab.
    var isFieldValue: Bool { ASCIISet.fieldValue.containsAll(self) }

    /// Whether the string consists of ASCII digits only, and isn't empty.
    var isNumber: Bool { !isEmpty && ASCIISet.digits.containsAll(self) }

    /// Compares the UTF-8 bytes of two strings, ignoring the case of ASCII letters.
    package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var others = other.utf8.makeIterator()
        for byte in utf8 {
            guard let other = others.next(), ASCII.lowercased(byte) == ASCII.lowercased(other) else { return false }
        }
        return true
    }
}

extension String {
    /// The string with ASCII letters in lowercase, and all other characters unchanged.
    var lowercasedASCII: String {
        String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }

    /// The string, with spaces and tabs removed from both ends.
    var trimmedOfBlanks: String {
        guard let first = utf8.first, let last = utf8.last, ASCII.isBlank(first) || ASCII.isBlank(last) else {
            return self
        }
        return String(self[...].trimmedOfBlanks)
    }

    /// Returns at most `limit` Unicode scalars of a string, in one line, for messages and logs.
    ///
    /// Control characters are escaped, and so are characters that separate lines or change the direction of text. A
    /// string from a caller or a server therefore can't forge a line in a log.
    ///
    /// - Complexity: O(min(n, limit)) for the length n of the string.
    package func shortened(to limit: Int = 64) -> String {
        if utf8.count <= limit, utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        var text = ""
        for scalar in unicodeScalars.prefix(limit) {
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += scalar.escaped(asASCII: true)
            }
        }
        return text + (unicodeScalars.dropFirst(limit).isEmpty ? "" : "…")
    }

    /// Creates a string from Latin-1, in which each byte is one character.
    init(latin1 bytes: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// Creates a string from UTF-8; fails if the bytes are invalid.
    ///
    /// The standard library's `init(validating:as:)` requires newer OS versions than this library does.
    ///
    /// - Complexity: O(n) in the number of bytes.
    @inlinable
    package init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // If the UTF-8 is invalid, decoding has repaired it, so the string has different bytes. `memcmp` is 50 times as
        // fast as a loop.
        let isUnchanged = utf8.withContiguousStorageIfAvailable { own in
            bytes.withContiguousStorageIfAvailable { other in
                guard own.count == other.count else { return false }
                guard let start = own.baseAddress, let otherStart = other.baseAddress else { return true }
                return memcmp(start, otherStart, own.count) == 0
            }
        }
        guard (isUnchanged ?? nil) ?? utf8.elementsEqual(bytes) else { return nil }
    }
}

extension Substring {
    /// The string, with spaces and tabs removed from both ends.
    var trimmedOfBlanks: Substring {
        guard let start = utf8.firstIndex(where: { !ASCII.isBlank($0) }),
            let end = utf8.lastIndex(where: { !ASCII.isBlank($0) })
        else { return "" }
        return self[start..<utf8.index(after: end)]
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A set of bytes that stand for characters of ASCII: the class of a piece of a protocol, or the characters that some
/// part of an address keeps, while all others are written as `%XX` (RFC 3986, 2.1).
package struct ASCIISet: Sendable, Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// Whether the bytes above ASCII are members, too.
    private var hasOthers = false

    /// Makes a set of characters; those beyond ASCII are ignored.
    package init(_ characters: some StringProtocol) {
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte & 63) }
        }
    }

    /// Whether the byte is a member.
    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte & 63) & 1 == 1
        default: hasOthers
        }
    }

    // Names and values of all fields are checked for every request: through the storage, this takes half of the time.
    /// Whether all bytes of a text are members.
    package func containsAll(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(contains) } ?? text.utf8.allSatisfy(contains)
    }

    /// The members of both sets.
    package static func + (lhs: ASCIISet, rhs: ASCIISet) -> ASCIISet {
        var set = lhs
        set.low |= rhs.low
        set.high |= rhs.high
        set.hasOthers = lhs.hasOthers || rhs.hasOthers
        return set
    }

    /// The set with more characters.
    package static func + (lhs: ASCIISet, rhs: String) -> ASCIISet { lhs + ASCIISet(rhs) }

    /// The set without some characters.
    func removing(_ characters: String) -> ASCIISet {
        let removed = ASCIISet(characters)
        var set = self
        set.low &= ~removed.low
        set.high &= ~removed.high
        return set
    }

    /// The bytes above ASCII.
    private static let others: ASCIISet = {
        var set = ASCIISet("")
        set.hasOthers = true
        return set
    }()
}

// MARK: - Classes

extension ASCIISet {
    /// The digits.
    package static let digits = ASCIISet("0123456789")
    /// The letters and digits.
    package static let alphanumerics = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    /// A token: a method, a header name (RFC 9110, 5.6.2).
    package static let token = alphanumerics + "!#$%&'*+-.^_`|~"
    /// A field value: visible characters, space, tab, and the bytes above ASCII that old servers and file names use
    /// (RFC 9110, 5.5).
    ///
    /// CR, LF, NUL and every other control character are no members.
    package static let fieldValue = visible + " \t" + others
    /// The characters of ASCII that can be seen.
    static let visible = token + "\"(),/:;<=>?@[\\]{}"
    /// The characters of an extended parameter that aren't escaped: `attr-char` (RFC 8187, 3.2.1).
    static let extendedValue = alphanumerics + "!#$&+-.^_`|~"
    /// A host with its port (RFC 3986, 3.2.2), an address in brackets included.
    static let host = alphanumerics + "-._:[]~%"
    /// Letters, digits and hyphens: a label of a host, a language tag.
    static let label = alphanumerics + "-"

    /// Unreserved characters only: whatever the text is, it stays one piece (RFC 3986, 2.3).
    static let unreserved = alphanumerics + "-._~"
    /// Whatever may stand in an address at all: unreserved and reserved characters (RFC 3986, 2.2).
    static let address = query + "#[]"
    /// The scheme of an address (RFC 3986, 3.1).
    static let scheme = alphanumerics + "+-."
    /// A path of several segments (RFC 3986, 3.3).
    static let path = unreserved + ":/@!$&'()*+,;="
    /// A whole query, whose separators are there already (RFC 3986, 3.4).
    static let query = path + "?"
    /// A name or a value in a query, where only `/` and `?` mean nothing (RFC 3986, 3.4).
    static let queryItem = unreserved + "/?"
    /// A name or a value in a form (WHATWG URL, application/x-www-form-urlencoded percent-encode set).
    static let form = alphanumerics + "-._*"
}

/// Letters and digits of ASCII, for single bytes.
package enum ASCII {
    /// Whether a byte is a digit.
    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    /// Whether a byte is a letter.
    package static func isLetter(_ byte: UInt8) -> Bool {
        lowercased(byte) &- UInt8(ascii: "a") < 26
    }

    /// Whether a byte is a space or a tab.
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// The byte in lower case if it is an upper-case letter, otherwise unchanged.
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }
}

// MARK: - Hexadecimal

extension UInt8 {
    /// The value of the byte as a hexadecimal digit of either case.
    var hexValue: UInt8? {
        if ASCII.isDigit(self) { return self - UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// The hexadecimal digit of a number below 16.
    @inlinable
    func hexDigit(uppercase: Bool = false) -> UInt8 {
        self + (self < 10 ? UInt8(ascii: "0") : uppercase ? UInt8(ascii: "A") - 10 : UInt8(ascii: "a") - 10)
    }
}

extension Sequence<UInt8> {
    /// The bytes as two hexadecimal digits each.
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
    /// The offset of the first byte of a value.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}

extension StringProtocol {
    /// Whether the string is a token (RFC 9110, 5.6.2): not empty, and made of token characters only.
    package var isToken: Bool { !isEmpty && ASCIISet.token.containsAll(self) }

    /// Whether the string is a valid field value: no CR, LF, NUL or other control character.
    var isFieldValue: Bool { ASCIISet.fieldValue.containsAll(self) }

    /// Whether the string is a decimal number: not empty, and made of digits only.
    var isNumber: Bool { !isEmpty && ASCIISet.digits.containsAll(self) }

    /// Compares two strings like protocol text: bytes, with ASCII letters of either case equal.
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
    /// The string with ASCII letters in lower case, and all other characters unchanged.
    var lowercasedASCII: String {
        String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }

    /// The string without spaces and tabs at either end.
    var trimmedOfBlanks: String {
        guard let first = utf8.first, let last = utf8.last, ASCII.isBlank(first) || ASCII.isBlank(last) else {
            return self
        }
        return String(self[...].trimmedOfBlanks)
    }

    /// At most `limit` characters of a string from a caller or a server, as one line for messages and logs.
    ///
    /// Control characters are shown escaped, and so are characters that separate lines or change the direction of text:
    /// people and programs read logs, and neither should see a forged line.
    ///
    /// - Complexity: O(min(n, limit)).
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

    /// Reads Latin-1, in which every byte is a character.
    init(latin1 bytes: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// Reads UTF-8; `nil` if the bytes are invalid.
    ///
    /// The standard library's own `init(validating:as:)` requires newer systems than this library.
    ///
    /// - Complexity: O(n) in the number of the bytes.
    @inlinable
    package init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Invalid UTF-8 was repaired, so its bytes differ. Comparing memory takes a fiftieth of the time of a loop.
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
    /// The string without spaces and tabs at either end.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Reads the pieces of field values: tokens, quoted strings, blanks, delimiters (RFC 9110, 5.6).
///
/// It never fails and only goes forward, so every parser built on it takes linear time. A missing piece is `nil` or
/// empty.
struct FieldScanner {
    private let bytes: [UInt8]
    private var position = 0

    /// Starts at the beginning of a text.
    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The next byte, or `nil` at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Whether all bytes were read.
    var isAtEnd: Bool { position == bytes.count }

    /// Skips spaces and tabs.
    mutating func skipBlanks() {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Skips the bytes that fulfil the condition.
    mutating func skip(while condition: (UInt8) -> Bool) {
        while let next, condition(next) { position += 1 }
    }

    /// Skips a byte if it is next, and returns whether it was.
    mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Reads the bytes that fulfil the condition.
    mutating func text(while condition: (UInt8) -> Bool) -> String {
        let start = position
        skip(while: condition)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a token; empty if the next byte isn't part of one.
    mutating func token() -> String {
        text(while: ASCII.isToken)
    }

    /// Reads up to the first of the delimiters, and leaves out blanks at the end.
    mutating func text(upTo delimiters: Unicode.Scalar...) -> String {
        text { byte in !delimiters.contains { byte == UInt8(ascii: $0) } }.trimmedOfBlanks
    }

    /// Reads a quoted string without its quotes and escapes; `nil` if the next byte isn't a quote.
    ///
    /// A string without a closing quote ends with the text: other readers of the field do the same, and an error would
    /// be of no use.
    mutating func quotedString() -> String? {
        guard skip("\"") else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\"), let escaped = next else {
                content.append(byte)
                continue
            }
            position += 1
            content.append(escaped)
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Reads the value of a parameter: a quoted string, or everything up to the next delimiter.
    mutating func parameterValue(upTo delimiter: Unicode.Scalar) -> String {
        guard let quoted = quotedString() else { return text(upTo: delimiter) }
        // Readers ignore the text between the closing quote and the delimiter.
        skip { $0 != UInt8(ascii: delimiter) }
        return quoted
    }

    /// The elements of a list, without the empty ones; a quoted string isn't split (RFC 9110, 5.6.1).
    static func elements(of list: String) -> [String] {
        var elements: [String] = []
        let bytes = Array(list.utf8)
        var start = 0
        var isQuoted = false
        var isEscaped = false
        func take(upTo end: Int) {
            let element = String(decoding: bytes[start..<end], as: UTF8.self).trimmedOfBlanks
            if !element.isEmpty { elements.append(element) }
            start = end + 1
        }
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: take(upTo: index)
            default: break
            }
        }
        take(upTo: bytes.count)
        return elements
    }
}

// MARK: - Field value

extension String {
    /// The string as the value of a parameter: unchanged if it is a token, else as a quoted string (RFC 9110, 5.6.4).
    ///
    /// A control character has no escaped form. It stays, and is refused with the field that contains it.
    var asParameterValue: String {
        isToken ? self : quoted
    }

    /// The string as a quoted string, with quotes and backslashes escaped.
    var quoted: String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    /// The string without spaces and tabs at either end.
    var trimmedOfBlanks: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = utf8.first, let last = utf8.last, isBlank(first) || isBlank(last) else { return self }
        guard let start = utf8.firstIndex(where: { !isBlank($0) }), let end = utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[start...end])
    }

    /// The string with ASCII letters in lower case, and all other characters unchanged.
    var lowercasedASCII: String {
        String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether the string is a valid field value: no CR, LF, NUL or other control character.
    var isFieldValue: Bool {
        hasOnly(ASCII.isFieldValue)
    }
}

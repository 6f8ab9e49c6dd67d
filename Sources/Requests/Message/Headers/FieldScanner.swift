// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Reads the pieces of field values: tokens, quoted strings, blanks, delimiters (RFC 9110, 5.6).
///
/// It never fails and only goes forward, so every parser built on it takes linear time. A missing piece is `nil` or
/// empty.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var position = 0

    /// Starts at the beginning of a text.
    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    /// The next byte, or `nil` at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Whether all bytes were read.
    var isAtEnd: Bool { position == bytes.count }

    /// Skips spaces and tabs.
    mutating func skipBlanks() {
        skip(while: ASCII.isBlank)
    }

    /// Skips the bytes that fulfil the condition.
    mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
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
        text(while: ASCIISet.token.contains)
    }

    /// Reads all digits as a decimal number; `nil` if their count isn't in the range, or the number is too large.
    mutating func number<Number: FixedWidthInteger>(_ digits: ClosedRange<Int> = 1...Int.max) -> Number? {
        let text = text(while: ASCII.isDigit)
        return digits.contains(text.utf8.count) ? Number(text) : nil
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
    mutating func parameterValue(upTo delimiter: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> String {
        skipBlanks()
        let (end, other) = (UInt8(ascii: delimiter), UInt8(ascii: other ?? delimiter))
        guard let quoted = quotedString() else { return text { $0 != end && $0 != other }.trimmedOfBlanks }
        // Readers ignore the text between the closing quote and the delimiter.
        skip { $0 != end && $0 != other }
        return quoted
    }

    /// Reads parameters, each behind a semicolon, up to the end of the text or to the delimiter of a list.
    ///
    /// Common errors of servers are accepted, as browsers do: blanks anywhere, a missing quote at the end. Parameters
    /// whose name isn't a token are skipped, and so are those behind the 64th: callers compare each with each.
    ///
    /// - Parameters:
    ///   - end: The delimiter; with a semicolon, the default, there is none.
    ///   - emptyValue: The value of a parameter without one; `nil`, the default, skips such parameters.
    /// - Returns: The parameters, in their order.
    mutating func parameters(upTo end: Unicode.Scalar = ";", emptyValue: String? = nil) -> [HTTPField.Parameter] {
        var parameters: [HTTPField.Parameter] = []
        while skip(";") {
            skipBlanks()
            let name = text {
                $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: end)
            }.trimmedOfBlanks
            let value = skip("=") ? parameterValue(upTo: ";", or: end) : emptyValue
            guard let value, name.isToken, parameters.count < 64 else { continue }
            parameters.append(HTTPField.Parameter(name, value))
        }
        return parameters
    }

    /// The elements of a list, without the empty ones; a quoted string isn't split (RFC 9110, 5.6.1).
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - hasEscapes: Whether a backslash in a quoted string escapes the next character, as by default; not in an
    ///     entity tag.
    /// - Returns: The elements, without blanks around them.
    package static func elements(of list: String, hasEscapes: Bool = true) -> [String] {
        var elements: [String] = []
        var (isQuoted, isEscaped) = (false, false)
        for element in list.utf8.split(whereSeparator: { byte in
            defer { isEscaped = hasEscapes && isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }) {
            let element = String(Substring(element).trimmedOfBlanks)
            if !element.isEmpty { elements.append(element) }
        }
        return elements
    }
}

// MARK: - Time

extension FieldScanner {
    /// Reads the name of a month, of which the first three letters count if it may be longer; `nil` for other words.
    mutating func month(isShort: Bool = true) -> Int? {
        let name = text(while: ASCII.isLetter)
        let start = isShort ? name : String(name.prefix(3))
        return CivilTime.months.firstIndex { $0.equalsIgnoringASCIICase(start) }.map { $0 + 1 }
    }

    /// Reads the time of a day, such as `08:49:37`, with a number of digits in each part.
    mutating func clock(digits: ClosedRange<Int> = 2...2) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour: Int = number(digits), skip(":"), let minute: Int = number(digits), skip(":"),
            let second: Int = number(digits)
        else { return nil }
        return (hour, minute, second)
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
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Reads the pieces of field values: tokens, quoted strings, blanks, delimiters (RFC 9110, 5.6).
///
/// It never fails and only goes forward, so every parser built on it takes linear time. A missing piece is `nil` or
/// empty.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var position = 0
    /// Whether the text has ended within a quoted string.
    private(set) var hasOpenQuote = false
    /// Whether text right after a closing quote, in a member of a list, shows that a quote is missing before it.
    private(set) var hasMisplacedQuote = false

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
    /// A string without a closing quote ends with the text, and sets ``hasOpenQuote``: in a field with one value, other
    /// readers do the same.
    mutating func quotedString() -> String? {
        guard skip("\"") else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\"), let escaped = next else {
                content.append(byte)
                continue
            }
            position += 1
            content.append(escaped)
        }
        hasOpenQuote = true
        return String(decoding: content, as: UTF8.self)
    }

    /// Reads the value of a parameter: a quoted string, or everything up to the next delimiter.
    mutating func parameterValue(upTo delimiter: Unicode.Scalar) -> String {
        skipBlanks()
        let end = UInt8(ascii: delimiter)
        guard let quoted = quotedString() else { return text { $0 != end }.trimmedOfBlanks }
        // Readers ignore the text between the closing quote and the delimiter.
        skip { $0 != end }
        return quoted
    }

    /// Reads parameters, each after a semicolon, up to the end of the text.
    ///
    /// Common errors of servers are accepted, as browsers do: blanks anywhere, a missing quote at the end. Parameters
    /// whose name isn't a token are skipped, and so are those behind the 64th: callers compare each with each.
    ///
    /// - Parameter emptyValue: The value of a parameter without one; `nil`, the default, skips such parameters.
    /// - Returns: The parameters, in their order.
    mutating func parameters(emptyValue: String? = nil) -> [HTTPField.Parameter] {
        var parameters: [HTTPField.Parameter] = []
        while skip(";") {
            skipBlanks()
            let name = text { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.trimmedOfBlanks
            let value = skip("=") ? parameterValue(upTo: ";") : emptyValue
            guard let value, name.isToken, parameters.count < 64 else { continue }
            parameters.append(HTTPField.Parameter(name, value))
        }
        return parameters
    }
}

// MARK: - Lists

extension FieldScanner {
    /// Returns the members of a list, without the empty ones and without blanks around them (RFC 9110, 5.6.1).
    ///
    /// Each line is read alone. If a quoted string has no end, nothing shows where it should have ended: the member is
    /// dropped, with the rest of its line. Text right after a closing quote shows that a quote before it is missing: the
    /// member is read, and the rest of its line is dropped. So a text that a server only quotes never becomes a member.
    /// Later lines are read.
    ///
    /// - Parameters:
    ///   - lines: The values of all fields of a name, in their order.
    ///   - hasEscapes: Whether a backslash in a quoted string escapes the next character, as by default; not in an
    ///     entity tag.
    /// - Returns: The members, in their order.
    package static func members(of lines: some Sequence<String>, hasEscapes: Bool = true) -> [String] {
        lines.flatMap { split($0, hasEscapes: hasEscapes).members }
    }

    /// Returns the elements of one line of a list; what ``members(of:hasEscapes:)`` drops is the last element.
    ///
    /// Use it if an element that can't be read mustn't be overlooked, such as an unknown coding.
    package static func elements(of line: String) -> [String] {
        let (members, unread) = split(line)
        return unread.map { members + [$0] } ?? members
    }

    /// Splits a line at its commas, except for those in quoted strings, and up to a misplaced quote.
    ///
    /// - Parameters:
    ///   - line: The value of one field.
    ///   - hasEscapes: Whether a backslash in a quoted string escapes the next character.
    /// - Returns: The members, and the text after the last of them that can't be read; `nil` if all is read.
    static func split(_ line: String, hasEscapes: Bool = true) -> (members: [String], unread: String?) {
        var members: [String] = []
        var scanner = FieldScanner(line)
        while !scanner.isAtEnd {
            let start = scanner.position
            let member = scanner.restOfMember(hasEscapes: hasEscapes)
            guard let text = member?.trimmedOfBlanks else { return (members, scanner.text(from: start)) }
            if !text.isEmpty { members.append(text) }
            if scanner.hasMisplacedQuote, !scanner.isAtEnd { return (members, scanner.text(from: scanner.position)) }
            _ = scanner.skip(",")
        }
        return (members, nil)
    }

    /// Reads the rest of a member of a list, up to the comma that ends it.
    ///
    /// - Parameter hasEscapes: Whether a backslash in a quoted string escapes the next character.
    /// - Returns: The rest, without the comma; `nil` if a quote is open in it.
    mutating func restOfMember(hasEscapes: Bool = true) -> String? {
        let start = position
        while let byte = next, byte != UInt8(ascii: ",") {
            guard byte == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            skipQuotedString(hasEscapes: hasEscapes)
            if let next, !" \t,;".utf8.contains(next) { hasMisplacedQuote = true }
        }
        return hasOpenQuote ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private func text(from start: Int) -> String {
        String(decoding: bytes[start...], as: UTF8.self).trimmedOfBlanks
    }

    private mutating func skipQuotedString(hasEscapes: Bool) {
        position += 1
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            if hasEscapes, byte == UInt8(ascii: "\\"), !isAtEnd { position += 1 }
        }
        hasOpenQuote = true
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Reads the elements of field values, such as tokens, quoted strings, whitespace and delimiters (RFC 9110, 5.6).
///
/// The scanner never fails and only moves forward, so every parser built on it runs in linear time. It returns `nil` or
/// an empty string if the requested element isn't next.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var position = 0
    /// Whether the string ended inside a quoted string.
    private(set) var hasOpenQuote = false
    /// Whether text directly follows a closing quote in a list member, which means that an earlier quote is missing.
    private(set) var hasMisplacedQuote = false

    /// Creates a scanner at the beginning of a string.
    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    /// The next byte, or `nil` at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Whether all bytes have been read.
    var isAtEnd: Bool { position == bytes.count }

    /// Skips spaces and tabs.
    mutating func skipBlanks() {
        skip(while: ASCII.isBlank)
    }

    /// Skips bytes while they fulfil the condition.
    mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }

    /// Skips a byte if it is next, and returns whether it was.
    mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Reads bytes while they fulfil the condition.
    mutating func text(while condition: (UInt8) -> Bool) -> String {
        let start = position
        skip(while: condition)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a token; returns an empty string if the next byte isn't part of one.
    mutating func token() -> String {
        text(while: ASCIISet.token.contains)
    }

    /// Reads all consecutive digits as a decimal number.
    ///
    /// Returns `nil` if the number of digits isn't in the range, or if the number is too large.
    mutating func number<Number: FixedWidthInteger>(_ digits: ClosedRange<Int> = 1...Int.max) -> Number? {
        let text = text(while: ASCII.isDigit)
        return digits.contains(text.utf8.count) ? Number(text) : nil
    }

    /// Reads a quoted string without its quotes and escapes; returns `nil` if the next byte isn't a quote.
    ///
    /// Without a closing quote, the quoted string extends to the end, and ``hasOpenQuote`` is set. Other parsers do the
    /// same in a field with a single value.
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

    /// Reads a parameter value, which is a quoted string, or everything up to the next delimiter.
    mutating func parameterValue(upTo delimiter: Unicode.Scalar) -> String {
        skipBlanks()
        let end = UInt8(ascii: delimiter)
        guard let quoted = quotedString() else { return text { $0 != end }.trimmedOfBlanks }
        // Skip text between the closing quote and the delimiter, as other parsers do.
        skip { $0 != end }
        return quoted
    }

    /// Reads parameters, each of which follows a semicolon, up to the end of the string.
    ///
    /// Common errors are accepted, as in browsers: extra whitespace, or a missing quote at the end. Parameters whose
    /// name isn't a token are skipped. At most 64 parameters are read, because callers compare each one with all
    /// others.
    ///
    /// - Parameter emptyValue: The value for a parameter without one; `nil`, the default, skips such parameters.
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
    /// Returns the members of a list, without empty members and surrounding whitespace (RFC 9110, 5.6.1).
    ///
    /// Each line is parsed separately. If a quoted string is unterminated, its end is unknown, so this member and the
    /// rest of the line are dropped. Text directly after a closing quote means that an earlier quote is missing, so the
    /// rest of the line after this member is dropped. This way, text that a server quotes can never become a member.
    /// The following lines are still parsed.
    ///
    /// - Parameters:
    ///   - lines: The values of all fields with the same name, in their order.
    ///   - hasEscapes: Whether a backslash escapes the next character of a quoted string; true by default, but false
    ///     for entity tags.
    /// - Returns: The members, in their order.
    package static func members(of lines: some Sequence<String>, hasEscapes: Bool = true) -> [String] {
        lines.flatMap { split($0, hasEscapes: hasEscapes).members }
    }

    /// Returns the elements of one line of a list; the last element includes text that ``members(of:hasEscapes:)``
    /// drops.
    ///
    /// Use this method for lists in which an element that can't be parsed must not be ignored, such as content codings.
    package static func elements(of line: String) -> [String] {
        let (members, unread) = split(line)
        return unread.map { members + [$0] } ?? members
    }

    /// Splits a line at commas outside of quoted strings, up to a misplaced quote.
    ///
    /// - Parameters:
    ///   - line: The value of one field.
    ///   - hasEscapes: Whether a backslash escapes the next character of a quoted string.
    /// - Returns: The members, and the remaining text that can't be parsed; `nil` if everything was parsed.
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

    /// Reads the rest of a list member, up to the comma that ends it.
    ///
    /// - Parameter hasEscapes: Whether a backslash escapes the next character of a quoted string.
    /// - Returns: The rest without the comma; `nil` if it contains an unterminated quote.
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
    /// Reads the name of a month; returns `nil` for other words.
    ///
    /// If `isAbbreviated` is false, the name may be longer, and only its first three letters count.
    mutating func month(isAbbreviated: Bool = true) -> Int? {
        let name = text(while: ASCII.isLetter)
        let start = isAbbreviated ? name : String(name.prefix(3))
        return CivilTime.months.firstIndex { $0.equalsIgnoringASCIICase(start) }.map { $0 + 1 }
    }

    /// Reads a time of day, such as `08:49:37`.
    ///
    /// The number of digits in each component must be in the given range.
    mutating func clock(digits: ClosedRange<Int> = 2...2) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour: Int = number(digits), skip(":"), let minute: Int = number(digits), skip(":"),
            let second: Int = number(digits)
        else { return nil }
        return (hour, minute, second)
    }
}

// MARK: - Field value

extension String {
    /// The string as a parameter value, that is, unchanged if it is a token, or as a quoted string (RFC 9110, 5.6.4).
    ///
    /// Control characters can't be escaped. They are kept, and fail the validation of the field.
    var asParameterValue: String {
        isToken ? self : quoted
    }

    /// The string in quotes, with quotes and backslashes escaped.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Finds the names of secrets in a string that has no known form, or one that isn't parsed.
struct PairScanner {
    private let bytes: [UInt8]

    init(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        self.bytes = bytes.contains(UInt8(ascii: "\\")) ? Self.unescaped(bytes) : bytes
    }

    /// Decodes the characters of ASCII that JSON may write as `\u0070`.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.dropFirst(3).prefix(2).compactMap(\.hexValue)
            if byte == UInt8(ascii: "\\"), rest.starts(with: "u00".utf8), digits.count == 2, digits[0] < 8 {
                result.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(5)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    // MARK: Pairs

    /// Whether a secret's name comes before an equals sign or a colon, and a value after it.
    ///
    /// The name may be in quotes, even escaped ones, and in brackets. The value may be in the next line, as in YAML.
    ///
    /// - Complexity: O(n).
    var namesSecret: Bool {
        var index = 0
        while index < bytes.count {
            guard ASCIISet.word.contains(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, ASCIISet.word.contains(bytes[index]) { index += 1 }
            guard isNameOfPair(start..<index) else { continue }
            let name = SecretName(String(decoding: bytes[start..<index], as: UTF8.self))
            // Values are read only for secrets: each may be as long as the rest.
            guard name.isSecret, let (value, isTyped) = value(ofTag: start..<index) ?? value(after: index) else {
                continue
            }
            if name.hides(Substring(decoding: bytes[value], as: UTF8.self), isTyped: isTyped) { return true }
        }
        return false
    }

    /// Whether a separator, or the end of a tag, comes after a name.
    private func isNameOfPair(_ name: Range<Int>) -> Bool {
        let next = skip(Self.closing, from: name.upperBound)
        return next < bytes.count && "=:>".utf8.contains(bytes[next])
    }

    /// The value of a pair whose name ends at an index, and whether it is one of JSON and the like; `nil` if the name
    /// isn't one of a pair.
    private func value(after end: Int) -> (value: Range<Int>, isTyped: Bool)? {
        let separator = skip(Self.closing, from: end)
        guard separator < bytes.count, "=:".utf8.contains(bytes[separator]) else { return nil }
        var start = separator + 1
        // `=>` of a script, and `:=`; a scope, `::`, is no pair.
        if start < bytes.count, bytes[start] != bytes[separator], "=>".utf8.contains(bytes[start]) { start += 1 }
        if start < bytes.count, bytes[separator] == UInt8(ascii: ":"), bytes[start] == bytes[separator] { return nil }
        start = skip(Self.opening, from: start)
        // A value that was redacted already.
        if bytes[start...].starts(with: "REDACTED".utf8) || bytes[start...].starts(with: "<redacted>".utf8) {
            return nil
        }
        var stop = start
        let limit = min(bytes.count, start + Self.longestValue)
        while stop < limit, !Self.delimiters.contains(bytes[stop]) { stop += 1 }
        let value = start..<stop
        if ["null", "true", "false", "~"].contains(where: { bytes[value].elementsEqual($0.utf8) }) { return nil }
        return (value, bytes[separator] == UInt8(ascii: ":"))
    }

    /// The content of an XML element, given the name in its tag; `nil` if the name isn't in a tag.
    private func value(ofTag name: Range<Int>) -> (value: Range<Int>, isTyped: Bool)? {
        guard let before = bytes[..<name.lowerBound].last, "<:".utf8.contains(before), name.upperBound < bytes.count,
            bytes[name.upperBound] == UInt8(ascii: ">")
        else { return nil }
        let start = name.upperBound + 1
        let value = bytes[start...].prefix(Self.longestValue).prefix { $0 != UInt8(ascii: "<") }
        return value.elementsEqual("REDACTED".utf8) ? nil : (start..<value.endIndex, true)
    }

    private func skip(_ set: ASCIISet, from start: Int) -> Int {
        var index = start
        while index < bytes.count, set.contains(bytes[index]) { index += 1 }
        return index
    }

    /// The characters between a name and its separator.
    private static let closing = ASCIISet(" \t\"'\\])`")
    /// The characters between a separator and a value.
    private static let opening = ASCIISet(" \t\r\n\"'\\`[({|>-")
    /// The part of a value that shows what it is, in bytes.
    private static let longestValue = 4096
    private static let delimiters = ASCIISet(" \t\r\n\"'\\`,;&<>)]}")

    // MARK: Tables

    /// Whether the string is a table whose first line names a secret, and has a value for it.
    ///
    /// - Complexity: O(n).
    var isTableWithSecret: Bool {
        var lines = bytes.split(whereSeparator: { "\r\n".utf8.contains($0) })[...]
        guard let first = lines.popFirst(), !lines.isEmpty else { return false }
        return ",;\t|".utf8.contains { separator in
            guard first.contains(separator) else { return false }
            let names = cells(of: first, separator).map { SecretName($0) }
            guard names.contains(where: \.isSecret) else { return false }
            return lines.contains { line in
                zip(names, cells(of: line, separator)).contains { $0.hides($1[...], isTyped: true) }
            }
        }
    }

    private func cells(of line: ArraySlice<UInt8>, _ separator: UInt8) -> [String] {
        line.split(separator: separator, omittingEmptySubsequences: false).map { cell in
            let text = cell.drop { " \t\"'".utf8.contains($0) }.reversed().drop { " \t\"'".utf8.contains($0) }
            return String(decoding: text.reversed(), as: UTF8.self)
        }
    }

    // MARK: Multipart

    /// Whether the head of a part of a form names a secret, with and without quotes.
    ///
    /// - Complexity: O(n).
    var isFormWithSecret: Bool {
        let field = "content-disposition"
        return bytes.split(whereSeparator: { "\r\n".utf8.contains($0) }).contains { line in
            guard line.prefix(field.utf8.count).map(ASCII.lowercased).elementsEqual(field.utf8) else { return false }
            return line.dropFirst(field.utf8.count).split { !ASCIISet.word.contains($0) }.contains { word in
                SecretName.matches(String(decoding: word, as: UTF8.self))
            }
        }
    }
}

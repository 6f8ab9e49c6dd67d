// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Searches an unstructured or unparsed string for the names of secrets.
struct PairScanner {
    private let bytes: [UInt8]

    init(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        self.bytes = bytes.contains(UInt8(ascii: "\\")) ? Self.unescaped(bytes) : bytes
    }

    /// Decodes ASCII characters that are escaped as in JSON, such as `\u0070`.
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

    /// Whether the string contains the name of a secret, followed by an equals sign or a colon and a value.
    ///
    /// The name may be in brackets or quotes, including escaped quotes. The value may be on the next line, as in YAML.
    ///
    /// - Complexity: O(n).
    var hasSecretPair: Bool {
        var index = 0
        while index < bytes.count {
            guard ASCIISet.nameCharacters.contains(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, ASCIISet.nameCharacters.contains(bytes[index]) { index += 1 }
            guard isNameOfPair(start..<index) else { continue }
            let name = SecretName(String(decoding: bytes[start..<index], as: UTF8.self))
            // Read values only after names of secrets, because each value may be as long as the rest of the string.
            guard name.isSecret, let (value, isTyped) = value(ofTag: start..<index) ?? value(after: index) else {
                continue
            }
            if name.redacts(Substring(decoding: bytes[value], as: UTF8.self), isTyped: isTyped) { return true }
        }
        return false
    }

    /// Returns whether a separator, or the end of a tag, follows a name.
    private func isNameOfPair(_ name: Range<Int>) -> Bool {
        let next = skip(Self.nameTerminators, from: name.upperBound)
        return next < bytes.count && "=:>".utf8.contains(bytes[next])
    }

    /// Returns the value of a pair whose name ends at an index, and whether it is typed, as in JSON; `nil` if there is
    /// no pair.
    private func value(after end: Int) -> (value: Range<Int>, isTyped: Bool)? {
        let separator = skip(Self.nameTerminators, from: end)
        guard separator < bytes.count, "=:".utf8.contains(bytes[separator]) else { return nil }
        var start = separator + 1
        // Skip the second character of `=>` and `:=`. A `::` is a scope operator rather than a separator.
        if start < bytes.count, bytes[start] != bytes[separator], "=>".utf8.contains(bytes[start]) { start += 1 }
        if start < bytes.count, bytes[separator] == UInt8(ascii: ":"), bytes[start] == bytes[separator] { return nil }
        start = skip(Self.valuePrefixes, from: start)
        // Values that have already been redacted don't count.
        if bytes[start...].starts(with: "REDACTED".utf8) || bytes[start...].starts(with: "<redacted>".utf8) {
            return nil
        }
        var stop = start
        let limit = min(bytes.count, start + Self.maximumValueLength)
        while stop < limit, !Self.delimiters.contains(bytes[stop]) { stop += 1 }
        let value = start..<stop
        if ["null", "true", "false", "~"].contains(where: { bytes[value].elementsEqual($0.utf8) }) { return nil }
        return (value, bytes[separator] == UInt8(ascii: ":"))
    }

    /// Returns the content of an XML element, given the range of the name in its tag; `nil` if the name isn't in a tag.
    private func value(ofTag name: Range<Int>) -> (value: Range<Int>, isTyped: Bool)? {
        guard let before = bytes[..<name.lowerBound].last, "<:".utf8.contains(before), name.upperBound < bytes.count,
            bytes[name.upperBound] == UInt8(ascii: ">")
        else { return nil }
        let start = name.upperBound + 1
        let value = bytes[start...].prefix(Self.maximumValueLength).prefix { $0 != UInt8(ascii: "<") }
        return value.elementsEqual("REDACTED".utf8) ? nil : (start..<value.endIndex, true)
    }

    private func skip(_ set: ASCIISet, from start: Int) -> Int {
        var index = start
        while index < bytes.count, set.contains(bytes[index]) { index += 1 }
        return index
    }

    /// The characters that may occur between a name and its separator.
    private static let nameTerminators = ASCIISet(" \t\"'\\])`")
    /// The characters that may occur between a separator and its value.
    private static let valuePrefixes = ASCIISet(" \t\r\n\"'\\`[({|>-")
    /// The maximum number of bytes of a value that are examined.
    private static let maximumValueLength = 4096
    private static let delimiters = ASCIISet(" \t\r\n\"'\\`,;&<>)]}")

    // MARK: Tables

    /// Whether the string is a table, such as CSV, with the name of a secret in its first line and a value in that
    /// column.
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
                zip(names, cells(of: line, separator)).contains { $0.redacts($1[...], isTyped: true) }
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

    /// Whether the header of a part of a multipart form contains the name of a secret, quoted or not.
    ///
    /// - Complexity: O(n).
    var isFormWithSecret: Bool {
        let field = "content-disposition"
        return bytes.split(whereSeparator: { "\r\n".utf8.contains($0) }).contains { line in
            guard line.prefix(field.utf8.count).map(ASCII.lowercased).elementsEqual(field.utf8) else { return false }
            return line.dropFirst(field.utf8.count).split { !ASCIISet.nameCharacters.contains($0) }.contains { word in
                SecretName.matches(String(decoding: word, as: UTF8.self))
            }
        }
    }
}

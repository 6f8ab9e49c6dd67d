// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Reduces Swift source to its code.
///
/// Comments and the text of string literals are removed. Interpolated code stays, and so does every line break, which
/// keeps line numbers correct. Regular expression literals aren't supported, since the library has none.
struct SwiftCode {
    /// For each byte, whether it may begin a comment or a literal, or is a parenthesis; any other byte is copied at
    /// once.
    private static let isMark: [Bool] = (0..<256).map { "/#\"()".utf8.contains(UInt8($0)) }

    private let source: [UInt8]
    private var position = 0
    private var output: [UInt8] = []

    static func stripping(_ text: String) -> String {
        var code = SwiftCode(source: Array(text.utf8))
        code.scanCode(isInterpolated: false)
        return String(decoding: code.output, as: UTF8.self)
    }

    private init(source: [UInt8]) {
        self.source = source
    }

    /// Copies code up to its end: the end of the file, or the parenthesis that closes an interpolation.
    private mutating func scanCode(isInterpolated: Bool) {
        let isMark = Self.isMark
        var depth = 0
        while position < source.count {
            if !isMark[Int(source[position])] {
                output.append(source[position])
                position += 1
            } else if comes("//") {
                skipLineComment()
            } else if comes("/*") {
                skipBlockComment()
            } else if let pounds = poundsOfLiteral() {
                scanLiteral(pounds: pounds)
            } else {
                if comes("(") { depth += 1 }
                if comes(")") { depth -= 1 }
                if isInterpolated, depth < 0 { return }
                output.append(source[position])
                position += 1
            }
        }
    }

    private mutating func skipLineComment() {
        while position < source.count, source[position] != UInt8(ascii: "\n") { position += 1 }
    }

    /// Skips a block comment and those nested in it.
    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if comes("/*") {
                depth += 1
                position += 2
            } else if comes("*/") {
                depth -= 1
                position += 2
            } else {
                skipKeepingLineBreaks(1)
            }
        } while depth > 0 && position < source.count
    }

    /// Returns the count of `#` before the quote here, or `nil` if no literal begins.
    private func poundsOfLiteral() -> Int? {
        let pounds = source[position...].prefix { $0 == UInt8(ascii: "#") }.count
        let quote = position + pounds
        return quote < source.count && source[quote] == UInt8(ascii: "\"") ? pounds : nil
    }

    private mutating func scanLiteral(pounds: Int) {
        let delimiter = String(repeating: "#", count: pounds)
        position += pounds
        let quotes = comes("\"\"\"") ? "\"\"\"" : "\""
        position += quotes.utf8.count

        output += Array("\"".utf8)
        defer { output += Array("\"".utf8) }
        let (end, interpolation, escape) = (quotes + delimiter, "\\" + delimiter + "(", "\\" + delimiter)
        while position < source.count {
            let byte = source[position]
            if byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                skipKeepingLineBreaks(1)
            } else if comes(end) {
                position += quotes.utf8.count + pounds
                return
            } else if comes(interpolation) {
                position += pounds + 2
                output += Array(" ".utf8)
                scanCode(isInterpolated: true)
                position += 1
                output += Array(" ".utf8)
            } else if comes(escape) {
                position += pounds + 1
                skipKeepingLineBreaks(1)
            } else {
                skipKeepingLineBreaks(1)
            }
        }
    }

    private mutating func skipKeepingLineBreaks(_ count: Int) {
        for _ in 0..<count where position < source.count {
            if source[position] == UInt8(ascii: "\n") { output.append(source[position]) }
            position += 1
        }
    }

    private func comes(_ text: String) -> Bool {
        var index = position
        for byte in text.utf8 {
            guard index < source.count, source[index] == byte else { return false }
            index += 1
        }
        return true
    }
}

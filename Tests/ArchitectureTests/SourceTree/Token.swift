// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A word of code, or one character of punctuation.
struct Token: Equatable {
    let text: String
    /// The number of its line, counted from one.
    let line: Int

    private enum Kind {
        case word, space, lineBreak, punctuation
    }

    /// The kind of each byte.
    private static let kinds: [Kind] = (0..<256).map { kind(of: UInt8($0)) }

    private static func kind(of byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            .word
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "`"): .space
        case UInt8(ascii: "\n"): .lineBreak
        default: .punctuation
        }
    }

    /// Returns the tokens of code without comments and strings.
    static func tokens(of code: String) -> [Token] {
        let kinds = Self.kinds
        var tokens: [Token] = []
        var word: [UInt8] = []
        var line = 1

        func endWord() {
            guard !word.isEmpty else { return }
            tokens.append(Token(text: String(decoding: word, as: UTF8.self), line: line))
            word.removeAll()
        }

        for byte in code.utf8 {
            switch kinds[Int(byte)] {
            case .word:
                word.append(byte)
            case .space:
                endWord()
            case .lineBreak:
                endWord()
                line += 1
            case .punctuation:
                endWord()
                tokens.append(Token(text: String(UnicodeScalar(byte)), line: line))
            }
        }
        endWord()
        return tokens
    }

    /// Whether the token is a name or a keyword.
    var isWord: Bool {
        text.first.map { $0.isLetter || $0 == "_" } ?? false
    }
}

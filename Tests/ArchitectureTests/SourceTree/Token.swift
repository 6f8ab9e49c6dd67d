// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A word of code, or one character of punctuation.
struct Token: Equatable {
    let text: String
    /// The line that it stands on, counted from one.
    let line: Int

    /// The tokens of code that has been stripped of comments and strings.
    static func tokens(of code: String) -> [Token] {
        var tokens: [Token] = []
        var word: [UInt8] = []
        var line = 1

        func endWord() {
            guard !word.isEmpty else { return }
            tokens.append(Token(text: String(decoding: word, as: UTF8.self), line: line))
            word.removeAll()
        }

        for byte in code.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                word.append(byte)
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "`"):
                endWord()
            case UInt8(ascii: "\n"):
                endWord()
                line += 1
            default:
                endWord()
                tokens.append(Token(text: String(UnicodeScalar(byte)), line: line))
            }
        }
        endWord()
        return tokens
    }

    /// Whether the token is the name of something, or a keyword.
    var isWord: Bool {
        text.first.map { $0.isLetter || $0 == "_" } ?? false
    }
}

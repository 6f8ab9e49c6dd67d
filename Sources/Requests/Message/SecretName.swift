// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Recognizes secrets by the words of their names: those of header fields, of parameters, and of members of content.
///
/// The words are the parts of a name between punctuation, digits and changes of case: those of `X-Token-V2` and of
/// `apiKey`. A part without any border, such as `sessionid`, is split if it consists of words of the list and nothing
/// else.
package struct SecretName: Sendable {
    /// Whether a value of that name is most likely a secret.
    package let isSecret: Bool
    /// Whether a number of that name is a count, as of `tokens`.
    let isCount: Bool
    /// Whether the last word is in the plural.
    let isPlural: Bool
    /// Whether the name is one word that is a secret only without others, such as `code`.
    let isAlone: Bool
    /// Whether a value that is an ordinary word is no secret, as in `"code": "not_found"`.
    let mayBeWord: Bool
    /// Whether the name ends with a word that is a secret in a header field, such as `key`.
    private let endsAsKey: Bool

    /// Judges a name in any case and punctuation: `X-Vault-Token`, `apiKey`, `PRIVATE_TOKEN`.
    ///
    /// - Complexity: O(n).
    package init(_ name: some StringProtocol) {
        let reader = name.utf8.withContiguousStorageIfAvailable(Reader.init) ?? Array(name.utf8).withReader
        // Some letters beyond ASCII have a lower case in ASCII.
        let folded = reader.isASCII ? reader : Array(name.lowercased().utf8).withReader
        let decisive = reader.isSecret ? reader : folded
        isSecret = decisive.isSecret
        isCount = decisive.isCount
        isPlural = decisive.isPlural
        isAlone = decisive.isAlone
        mayBeWord = decisive.mayBeWord
        endsAsKey = decisive.endsAsKey
    }

    /// Whether a value of that name is most likely a secret.
    ///
    /// - Complexity: O(n).
    package static func matches(_ name: some StringProtocol) -> Bool { SecretName(name).isSecret }

    /// Whether the value of a header field of that name is most likely a secret; `Fastly-Key` is, besides the names
    /// that match.
    ///
    /// - Complexity: O(n).
    static func matches(field name: String) -> Bool {
        let name = SecretName(name)
        return name.isSecret || name.endsAsKey
    }

    /// Whether a name that matches is also a common word of a text.
    static func isCommonWord(_ name: some StringProtocol) -> Bool { commonWords.contains(name.lowercased()) }

    private static let commonWords: Set = [
        "code", "key", "pin", "pass", "session", "cookie", "signature", "assertion", "ticket", "sign", "bypass", "sid",
        "sk",
    ]
}

// MARK: - Reading

extension [UInt8] {
    fileprivate var withReader: SecretName.Reader { withUnsafeBufferPointer(SecretName.Reader.init) }
}

extension SecretName {
    /// Reads the words of a name, one after the other.
    fileprivate struct Reader {
        private(set) var isSecret = false
        private(set) var isCount = false
        private(set) var isASCII = true
        /// The number of words.
        private var count = 0
        private var last: Words.Meaning = []
        private var beforeLast: Words.Meaning = []
        private(set) var isPlural = false

        /// Whether the name is one word, which alone is a secret.
        var isAlone: Bool { count == 1 && last.contains(.alone) }
        var mayBeWord: Bool { isAlone && last.contains(.word) }

        var endsAsKey: Bool { last.contains(.fieldEnd) && !beforeLast.contains(.beforeKey) }

        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var start = 0
            while start < bytes.count {
                guard ASCII.isLetter(bytes[start]) else {
                    isASCII = isASCII && bytes[start] < 0x80
                    start += 1
                    continue
                }
                var end = start + 1
                while end < bytes.count, ASCII.isLetter(bytes[end]) { end += 1 }
                addRun(UnsafeBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
            if isAlone { decide(isCount: isPlural && !last.contains(.digits) || last.contains(.number)) }
        }

        /// Reads letters without punctuation between them.
        private mutating func addRun(_ run: UnsafeBufferPointer<UInt8>) {
            // Case is no border in a run that consists of words: `OAuth`, `PassWord`.
            if let whole = split(run, from: 0) { return self = whole }
            var start = 0
            for end in 1...run.count where end == run.count || Self.isBorder(run, end) {
                let part = UnsafeBufferPointer(rebasing: run[start..<end])
                if part.count < run.count, let words = split(part, from: 0) {
                    self = words
                } else {
                    let word = Words.ending(of: part)
                    add(word?.meaning ?? .plain, isPlural: word?.isPlural ?? false)
                }
                start = end
            }
        }

        /// Whether a word begins at an index: an upper-case letter after or before a lower-case one.
        private static func isBorder(_ run: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
            func isUpper(_ index: Int) -> Bool { run[index] < UInt8(ascii: "a") }
            guard isUpper(index) else { return false }
            return !isUpper(index - 1) || index + 1 < run.count && !isUpper(index + 1)
        }

        /// Reads the rest of letters that consist of words of the list, the longest first; `nil` if they don't.
        private func split(_ letters: UnsafeBufferPointer<UInt8>, from start: Int) -> Reader? {
            // The words of longer runs would take too many ways to split them.
            guard letters.count <= 40 else { return nil }
            var failures: UInt64 = 0
            return split(letters, from: start, &failures)
        }

        /// Splits the letters from an index on, unless that has failed before: several words may end at one index.
        private func split(
            _ letters: UnsafeBufferPointer<UInt8>,
            from start: Int,
            _ failures: inout UInt64
        ) -> Reader? {
            guard failures & 1 << UInt64(start) == 0 else { return nil }
            let words = Words.first(in: letters, from: start) { end, meaning, isPlural in
                var reader = self
                reader.add(meaning, isPlural: isPlural)
                return end == letters.count ? reader : reader.split(letters, from: end, &failures)
            }
            if words == nil { failures |= 1 << UInt64(start) }
            return words
        }

        private mutating func add(_ word: Words.Meaning, isPlural: Bool) {
            if word.contains(.ignored) { return }
            count += 1
            if word.contains(.about) {
                // `token_type` is about a token.
                isSecret = false
            } else if word.contains(.always) {
                let isPage = word.contains(.token) && last.contains(isPlural ? .beforeTokens : .beforeToken)
                if !isPage { decide(isCount: isPlural && !word.contains(.digits)) }
            } else if isBeside(word, last) || isBeside(last, word) {
                decide(isCount: isPlural && last.union(word).isDisjoint(with: .digits))
            }
            (beforeLast, last, self.isPlural) = (last, word, isPlural)
        }

        private mutating func decide(isCount: Bool) {
            (isSecret, self.isCount) = (true, isCount)
        }

        /// Whether a word that isn't always a secret is one beside another.
        private func isBeside(_ word: Words.Meaning, _ neighbor: Words.Meaning) -> Bool {
            word.contains(.key) && neighbor.contains(.qualifiesKey)
                || word.contains(.code) && neighbor.contains(.qualifiesCode)
                || word.contains(.pass) && neighbor.contains(.afterPass)
        }
    }
}

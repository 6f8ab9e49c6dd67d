// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Recognizes the names of secrets by the words in them, for header fields, parameters and members of content.
///
/// Punctuation, digits and changes of case separate words, as in `X-Token-V2` and `apiKey`. A part without such
/// boundaries, such as `sessionid`, is split if it consists entirely of listed words.
package struct SecretName: Sendable {
    /// Whether a value with this name is most likely a secret.
    package let isSecret: Bool
    /// Whether a number with this name is a count, as in `tokens`.
    let isCount: Bool
    /// Whether the last word is in the plural.
    let isPlural: Bool
    /// Whether the name is a single word that is secret only on its own, such as `code`.
    let isStandalone: Bool
    /// Whether ordinary words aren't secret as values of this name, as in `"code": "not_found"`.
    let allowsOrdinaryValues: Bool
    /// Whether the name ends with a word that makes a header field secret, such as `key`.
    private let endsLikeKey: Bool

    /// Classifies a name in any case and punctuation, such as `X-Vault-Token`, `apiKey` or `PRIVATE_TOKEN`.
    ///
    /// - Complexity: O(n).
    package init(_ name: some StringProtocol) {
        let reader = name.utf8.withContiguousStorageIfAvailable(Reader.init) ?? Array(name.utf8).wordReader
        // Some non-ASCII letters become ASCII letters when they are lowercased.
        let folded = reader.isASCII ? reader : Array(name.lowercased().utf8).wordReader
        let decisive = reader.isSecret ? reader : folded
        isSecret = decisive.isSecret
        isCount = decisive.isCount
        isPlural = decisive.isPlural
        isStandalone = decisive.isStandalone
        allowsOrdinaryValues = decisive.allowsOrdinaryValues
        endsLikeKey = decisive.endsLikeKey
    }

    /// Returns whether a value with this name is most likely a secret.
    ///
    /// - Complexity: O(n).
    package static func matches(_ name: some StringProtocol) -> Bool { SecretName(name).isSecret }

    /// Returns whether the value of a header field with this name is most likely a secret.
    ///
    /// In addition to secret names, this includes names that end like a key, such as `Fastly-Key`.
    ///
    /// - Complexity: O(n).
    static func matches(field name: String) -> Bool {
        let name = SecretName(name)
        return name.isSecret || name.endsLikeKey
    }

    /// Returns whether a secret name is also a common word in text.
    static func isCommonWord(_ name: some StringProtocol) -> Bool { commonWords.contains(name.lowercased()) }

    private static let commonWords: Set = [
        "code", "key", "pin", "pass", "session", "cookie", "signature", "assertion", "ticket", "sign", "bypass", "sid",
        "sk",
    ]
}

// MARK: - Reading

extension [UInt8] {
    fileprivate var wordReader: SecretName.Reader { withUnsafeBufferPointer(SecretName.Reader.init) }
}

extension SecretName {
    /// Reads the words of a name one by one, and accumulates their meaning.
    fileprivate struct Reader {
        private(set) var isSecret = false
        private(set) var isCount = false
        private(set) var isASCII = true
        private var count = 0
        private var last: Words.Meaning = []
        private var beforeLast: Words.Meaning = []
        private(set) var isPlural = false

        /// Whether the name is a single word that is secret only on its own.
        var isStandalone: Bool { count == 1 && last.contains(.standalone) }
        var allowsOrdinaryValues: Bool { isStandalone && last.contains(.allowsOrdinaryValues) }

        var endsLikeKey: Bool { last.contains(.headerSuffix) && !beforeLast.contains(.beforeKey) }

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
            if isStandalone {
                markSecret(isCount: isPlural && !last.contains(.secretNumber) || last.contains(.nonSecretNumber))
            }
        }

        /// Reads a run of letters without punctuation.
        private mutating func addRun(_ run: UnsafeBufferPointer<UInt8>) {
            // Changes of case don't matter in a run that consists of listed words, such as `OAuth` and `PassWord`.
            if let whole = split(run, from: 0) { return self = whole }
            var start = 0
            for end in 1...run.count where end == run.count || Self.isWordBoundary(run, end) {
                let part = UnsafeBufferPointer(rebasing: run[start..<end])
                if part.count < run.count, let words = split(part, from: 0) {
                    self = words
                } else {
                    let word = Words.suffix(of: part)
                    add(word?.meaning ?? .neutral, isPlural: word?.isPlural ?? false)
                }
                start = end
            }
        }

        /// Returns whether a word starts at an upper-case letter that follows or precedes a lower-case letter.
        private static func isWordBoundary(_ run: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
            func isUpper(_ index: Int) -> Bool { run[index] < UInt8(ascii: "a") }
            guard isUpper(index) else { return false }
            return !isUpper(index - 1) || index + 1 < run.count && !isUpper(index + 1)
        }

        /// Splits the letters from an index into listed words, longest first; returns `nil` if that isn't possible.
        private func split(_ letters: UnsafeBufferPointer<UInt8>, from start: Int) -> Reader? {
            // Longer runs can be split in too many ways.
            guard letters.count <= 40 else { return nil }
            var failures: UInt64 = 0
            return split(letters, from: start, &failures)
        }

        /// Splits the letters from an index, unless that is already known to fail.
        ///
        /// Failures are recorded because different splits may reach the same index.
        private func split(
            _ letters: UnsafeBufferPointer<UInt8>,
            from start: Int,
            _ failures: inout UInt64
        ) -> Reader? {
            guard failures & 1 << UInt64(start) == 0 else { return nil }
            let words = Words.firstMatch(in: letters, from: start) { end, meaning, isPlural in
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
            if word.contains(.descriptor) {
                // For example, `token_type` describes a token.
                isSecret = false
            } else if word.contains(.alwaysSecret) {
                let isPagination = word.contains(.token) && last.contains(isPlural ? .beforeTokens : .beforeToken)
                if !isPagination { markSecret(isCount: isPlural && !word.contains(.secretNumber)) }
            } else if isSecretCombination(word, last) || isSecretCombination(last, word) {
                markSecret(isCount: isPlural && last.union(word).isDisjoint(with: .secretNumber))
            }
            (beforeLast, last, self.isPlural) = (last, word, isPlural)
        }

        private mutating func markSecret(isCount: Bool) {
            (isSecret, self.isCount) = (true, isCount)
        }

        /// Returns whether a word that isn't always secret becomes secret next to another word.
        private func isSecretCombination(_ word: Words.Meaning, _ neighbor: Words.Meaning) -> Bool {
            word.contains(.key) && neighbor.contains(.qualifiesKey)
                || word.contains(.code) && neighbor.contains(.qualifiesCode)
                || word.contains(.pass) && neighbor.contains(.afterPass)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The rule against phrases that are hard to read, each with its replacement.
struct EnglishLint {
    /// A phrase in a file.
    struct Finding: Equatable {
        let line: Int
        let phrase: String
    }

    static let house = EnglishLint([
        "nil where": "`nil` if",
        "false where": "`false` if",
        "true where": "`true` if",
        "throws where": "throws if",
        "is none": "is invalid, is empty, there is no …",
        "are none": "are invalid, are empty, there are no …",
        "let go of": "released, deallocated",
        "lets go of": "releases, deallocates",
        "letting go of": "releasing, deallocating",
        "call off": "cancel",
        "calls off": "cancels",
        "called off": "cancelled",
        "so many": "the count, `count` bytes",
        "so much": "the amount",
        "go on with": "resume, continue",
        "goes on with": "resumes, continues",
        "going on with": "resuming, continuing",
        "gone on with": "resumed, continued",
        "went on with": "resumed, continued",
        "try anew": "retry",
        "tries anew": "retries",
        "tried anew": "retried",
        "tried again": "retried",
        "those who": "the callers, the observers",
        "who is slow": "a slow consumer",
        "who comes": "a later caller",
        "who waits": "a waiting caller",
        "who wants": "a caller",
        "whoever": "any caller",
        "whom": "the noun: the observers, the trust policy",
        "somebody": "the noun: a caller, an observer",
        "someone": "the noun: a caller, an observer",
        "anybody": "the noun: any caller",
        "everybody": "the noun: all callers",
        "nobody": "no caller, no observer, nothing",
        "what isn't": "a value that isn't",
        "what is no": "a value that isn't a",
        "is no time": "counts as zero",
        "as good as": "like, about",
        "take offence": "require",
        "takes offence": "requires",
        "by himself": "automatically",
        "goes by the": "uses the",
        "has nothing of": "contains no part of",
        "comes of": "the result of, the outcome of",
        "came of": "the result of, the outcome of",
        "becomes of": "the state of, the outcome of",
        "less and less": "backs off",
        "told of": "notified of",
        "tells of": "reports",
        "for want of": "because there is no",
        "in vain": "without effect, too long",
    ])

    private let instead: [String: String]
    private let phrasesByFirstWord: [String: [[String]]]

    init(_ phrases: [String: String]) {
        instead = phrases
        let split = phrases.keys.sorted().map { $0.split(separator: " ").map(String.init) }
        phrasesByFirstWord = Dictionary(grouping: split) { $0.first ?? "" }
    }

    /// Returns the phrases in a text.
    ///
    /// Comments, strings and names count: the words of `nobodyWaits` are “nobody waits”. A phrase may continue on the
    /// next line, but not across punctuation or an empty line.
    func findings(in text: String) -> [Finding] {
        let words = EnglishWord.words(of: text)
        var found: [Finding] = []
        for index in words.indices {
            for phrase in phrasesByFirstWord[words[index].text] ?? [] {
                let rest = words[(index + 1)...].prefix(phrase.count - 1)
                guard rest.allSatisfy(\.continuesSentence) else { continue }
                guard rest.map(\.text) == Array(phrase.dropFirst()) else { continue }
                found.append(Finding(line: words[index].line, phrase: phrase.joined(separator: " ")))
            }
        }
        return found
    }

    /// Returns the phrases in a file, each with its place and its replacement.
    func violations(in text: String, of path: String) -> [String] {
        findings(in: text).map { "\(path):\($0.line): “\($0.phrase)”: write \(instead[$0.phrase] ?? "")" }
    }
}

/// A lower-case word of a text.
struct EnglishWord: Equatable {
    private enum Kind {
        case lowercase, uppercase, apostrophe, space, lineBreak, punctuation
    }

    let text: String
    let line: Int
    /// Whether only white space or comment marks stand between the previous word and this one.
    let continuesSentence: Bool

    /// The kind of each byte.
    private static let kinds: [Kind] = (0..<256).map { kind(of: UInt8($0)) }

    private static func kind(of byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): .lowercase
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): .uppercase
        case UInt8(ascii: "'"): .apostrophe
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "/"), UInt8(ascii: "`"), UInt8(ascii: "*"): .space
        case UInt8(ascii: "\n"): .lineBreak
        default: .punctuation
        }
    }

    static func words(of text: String) -> [EnglishWord] {
        let kinds = Self.kinds
        var words: [EnglishWord] = []
        var word: [UInt8] = []
        var previous = Kind.punctuation
        var (line, lineBreaks, continuesSentence) = (1, 0, false)

        func endWord() {
            guard !word.isEmpty else { return }
            let isQuoted = previous == .apostrophe
            let text = String(decoding: isQuoted ? word.dropLast() : word[...], as: UTF8.self)
            words.append(EnglishWord(text: text, line: line, continuesSentence: continuesSentence))
            word.removeAll(keepingCapacity: true)
            (lineBreaks, continuesSentence) = (0, !isQuoted)
        }

        for byte in text.utf8 {
            let kind = kinds[Int(byte)]
            switch kind {
            case .lowercase:
                word.append(byte)
            case .uppercase:
                if previous == .lowercase { endWord() }
                word.append(byte | 0x20)
            case .apostrophe where previous == .lowercase || previous == .uppercase:
                word.append(byte)
            case .space:
                endWord()
            case .lineBreak:
                endWord()
                line += 1
                lineBreaks += 1
                if lineBreaks > 1 { continuesSentence = false }
            case .apostrophe, .punctuation:
                endWord()
                continuesSentence = false
            }
            previous = kind
        }
        endWord()
        return words
    }
}

@Suite(.bounded) struct EnglishTests {
    /// The file that has the phrases because it forbids them.
    private static let ownPath = "Tests/ArchitectureTests/EnglishTests.swift"

    @Test func noTextHasAPhraseThatIsHardToRead() throws {
        let root = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
        let paths =
            SourceTree.paths(below: "Sources") + SourceTree.paths(below: "Tests") + root + [".github/SECURITY.md"]
        let texts = paths.filter { path in
            path != Self.ownPath && [".swift", ".md", ".c", ".h"].contains { path.hasSuffix($0) }
        }

        #expect(texts.flatMap { EnglishLint.house.violations(in: SourceTree.text(of: $0) ?? "", of: $0) } == [])
    }
}

@Suite(.bounded) struct EnglishRuleTests {
    private let lint = EnglishLint(["so many": "`count`", "nobody": "no caller", "what isn't": "a value that isn't"])

    static let samples: [(String, [String])] = [
        ("/// Reads so many bytes.", ["so many"]),
        ("So many bytes, and so many more.", ["so many", "so many"]),
        ("/// Reads so\n    /// many bytes.", ["so many"]),
        ("Reads `so` **many** bytes.", ["so many"]),
        ("@Test func nobodyWaits() {}", ["nobody"]),
        ("let readsSoManyBytes = true", ["so many"]),
        ("print(\"nobody\")", ["nobody"]),
        ("What isn't there, 'nobody' has.", ["what isn't", "nobody"]),
        ("“nobody”", ["nobody"]),
        ("Is it so? Many say so.", []),
        ("so, many", []),
        ("- so\n- many", []),
        ("Why so\n\nMany reasons", []),
        ("/// Why so\n///\n/// many reasons", []),
        ("soMany_nobodys somany", ["so many"]),
        ("what isn t", []),
        ("what is", []),
        ("so", []),
        ("", []),
    ]

    @Test(arguments: samples)
    func phrasesAreFound(in text: String, _ phrases: [String]) {
        #expect(lint.findings(in: text).map(\.phrase) == phrases)
    }

    @Test func findingHasTheLineOfItsFirstWord() {
        let texts = EnglishLint.house.findings(in: "a\nnil where\n\nletting go of").map { "\($0.line) \($0.phrase)" }
        #expect(texts == ["2 nil where", "4 letting go of"])
    }

    @Test func violationNamesThePlaceAndTheReplacement() {
        #expect(
            lint.violations(in: "nobody,\nso many", of: "A.swift") == [
                "A.swift:1: “nobody”: write no caller", "A.swift:2: “so many”: write `count`",
            ]
        )
    }
}

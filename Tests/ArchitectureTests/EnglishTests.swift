// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The rule against phrases that are hard to read, each with its replacement.
///
/// `English.txt` lists the files that had phrases when the rule began, with their counts, which may only fall. Other
/// files have none.
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

    /// Returns the differences between the phrases in files and the counts that a list allows.
    func violations(in findings: [String: [Finding]], allowed: [String: Int]) -> [String] {
        Set(findings.keys).union(allowed.keys).sorted().flatMap { path -> [String] in
            let (found, limit) = (findings[path] ?? [], allowed[path] ?? 0)
            guard found.count != limit else { return [] }
            let counts = "\(path): has \(found.count) phrases, \(EnglishList.path) says \(limit)"
            guard found.count > limit else { return ["\(counts): \(EnglishList.advice)"] }
            return [counts]
                + found.map { "\(path):\($0.line): “\($0.phrase)”: write \(instead[$0.phrase] ?? "")" }
        }
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

/// The list of the files that may still have phrases, with their counts.
enum EnglishList {
    static let path = "Tests/ArchitectureTests/English.txt"
    static let advice = "shorten the list with `REQUESTS_RECORD_ENGLISH=1 swift test --filter EnglishTests`"
    static let isRecorded = ProcessInfo.processInfo.environment["REQUESTS_RECORD_ENGLISH"] == "1"

    /// The file that has the phrases because it forbids them.
    private static let ownPath = "Tests/ArchitectureTests/EnglishTests.swift"

    /// Returns the phrases of every code or documentation file that has some.
    static func findings() -> [String: [EnglishLint.Finding]] {
        let root = (try? FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)) ?? []
        let paths = SourceTree.paths(below: "Sources") + SourceTree.paths(below: "Tests") + root
        var findings: [String: [EnglishLint.Finding]] = [:]
        for path in paths where path != ownPath && (path.hasSuffix(".swift") || path.hasSuffix(".md")) {
            let found = EnglishLint.house.findings(in: SourceTree.text(of: path) ?? "")
            if !found.isEmpty { findings[path] = found }
        }
        return findings
    }

    /// Returns the text of a list: a line for each file, with its count and its path.
    static func text(of findings: [String: [EnglishLint.Finding]]) -> String {
        findings.sorted { $0.key < $1.key }.map { "\($0.value.count) \($0.key)\n" }.joined()
    }

    /// Reads a list; a line without a number allows nothing.
    static func allowed(in text: String) -> [String: Int] {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
        return Dictionary(lines.map { (String($0.last ?? ""), Int($0.first ?? "") ?? 0) }) { first, _ in first }
    }
}

@Suite(.bounded) struct EnglishTests {
    @Test func filesHaveAsManyPhrasesAsTheListAllows() throws {
        let findings = EnglishList.findings()
        guard !EnglishList.isRecorded else {
            let file = SourceTree.root.appendingPathComponent(EnglishList.path)
            try Data(EnglishList.text(of: findings).utf8).write(to: file)
            return
        }
        let list = try #require(SourceTree.text(of: EnglishList.path), "there is no list: \(EnglishList.advice)")

        #expect(EnglishLint.house.violations(in: findings, allowed: EnglishList.allowed(in: list)) == [])
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

    @Test func onlyTheNumberOfTheListIsAllowed() {
        let found = lint.findings(in: "nobody,\nso many")
        let both = ["A.swift": found]
        #expect(lint.violations(in: both, allowed: ["A.swift": 2]) == [])
        #expect(
            lint.violations(in: both, allowed: ["A.swift": 1]) == [
                "A.swift: has 2 phrases, Tests/ArchitectureTests/English.txt says 1",
                "A.swift:1: “nobody”: write no caller",
                "A.swift:2: “so many”: write `count`",
            ]
        )
        #expect(lint.violations(in: both, allowed: [:]).count == 3)
        #expect(
            lint.violations(in: both, allowed: ["A.swift": 2, "B.swift": 1]) == [
                "B.swift: has 0 phrases, \(EnglishList.path) says 1: \(EnglishList.advice)"
            ]
        )
    }

    @Test func listIsReadAsItIsWritten() {
        let findings = ["B.swift": lint.findings(in: "nobody"), "A.swift": lint.findings(in: "nobody, nobody")]
        let text = EnglishList.text(of: findings)
        #expect(text == "2 A.swift\n1 B.swift\n")
        #expect(EnglishList.allowed(in: text) == ["A.swift": 2, "B.swift": 1])
    }
}

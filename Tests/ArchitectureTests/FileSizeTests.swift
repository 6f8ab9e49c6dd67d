// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The rules about the size and name of files: one concept a file, with its small companions.
struct FileShape {
    /// Files that may be longer, with the reason.
    var long: [String: String] = [:]
    /// Files that may be shorter, with the reason.
    var short: [String: String] = [:]

    static let house = FileShape(
        long: ["Sources/Requests/Requests/NetworkOperation.swift": "the one door between a call and all that is typed"],
        short: [
            "Sources/Requests/Support/FoundationNetworking.swift": "an import for all other files",
            "Sources/Requests/Support/RandomSource.swift": "what retries, boundaries and streams have in common",
            "Sources/RequestsTesting/Random/SeededRandom.swift": "what stands in for it",
        ]
    )

    static let longest = 400
    static let shortest = 50
    static let median = 150

    func violations(in files: [SourceFile]) -> [String] {
        files.flatMap { [length(of: $0), name(of: $0)].compactMap { $0 } }
    }

    /// Returns the median of all files: one may be long, but not every other.
    func median(of files: [SourceFile]) -> Int {
        let lengths = files.map(\.lines.count).sorted()
        return lengths.isEmpty ? 0 : lengths[lengths.count / 2]
    }

    /// Programs may have any length.
    private func length(of file: SourceFile) -> String? {
        let count = file.lines.count
        if count > Self.longest, long[file.path] == nil {
            return file.finding(atLine: count, "is longer than \(Self.longest) lines")
        }
        let isLibrary = file.path.hasPrefix("Sources/Requests")
        if count < Self.shortest, isLibrary, short[file.path] == nil {
            return file.finding(atLine: count, "is shorter than \(Self.shortest) lines: which concept is it a part of?")
        }
        return nil
    }

    /// `Type.swift` declares the type; `Type+Aspect.swift` declares or extends it.
    ///
    /// A file without a type, such as the main file of a program, may have any name.
    private func name(of file: SourceFile) -> String? {
        let topLevel = file.declarations.filter { $0.scope == .topLevel }
        guard !topLevel.isEmpty, file.name != "main" else { return nil }
        let parts = file.name.split(separator: "+", maxSplits: 1).map(String.init)
        let candidates = parts.count > 1 ? topLevel : file.topLevelTypes
        guard !candidates.contains(where: { $0.name == parts.first }) else { return nil }
        return file.finding(atLine: 1, "is named neither after its type nor Type+Aspect")
    }
}

extension SourceFile {
    fileprivate var topLevelTypes: [Declaration] {
        declarations.filter { $0.scope == .topLevel && $0.kind != .extension }
    }
}

@Suite(.bounded) struct FileSizeTests {
    @Test func filesAreOfASizeAndNamedAfterAType() {
        #expect(FileShape.house.violations(in: SourceTree.sources) == [])
    }

    @Test func medianFileFitsOnAFewScreens() {
        #expect(FileShape.house.median(of: SourceTree.sources) <= FileShape.median)
    }

    @Test func exceptionsAreOfFilesThatExist() {
        let paths = Set(SourceTree.sources.map(\.path))
        let exceptions = Set(FileShape.house.long.keys).union(FileShape.house.short.keys)
        #expect(exceptions.subtracting(paths) == [])
    }
}

@Suite(.bounded) struct FileShapeRuleTests {
    @Test(arguments: [
        "struct B {}",
        "extension A {}",
    ])
    func badFileIsFound(text: String) {
        #expect(FileShape().violations(in: [SourceFile(path: "Sources/A.swift", text: text)]).count == 1)
    }

    @Test(arguments: [
        ("Sources/A.swift", "public struct A { public struct B {} }\nstruct C {}\npublic typealias D = A"),
        ("Sources/A+Aspect.swift", "extension A {}"),
        ("Sources/A.B+Aspect.swift", "extension A.B {}"),
        ("Sources/Anything.swift", "import Foundation"),
        ("Sources/demo/main.swift", "struct Demo {}"),
    ])
    func goodFileIsNotFound(path: String, text: String) {
        #expect(FileShape().violations(in: [SourceFile(path: path, text: text)]) == [])
    }

    @Test(arguments: [(400, 0), (401, 1)])
    func fileIsLongPastTheLimit(lines: Int, violations: Int) {
        let file = SourceFile(path: "A.swift", text: "struct A {}" + String(repeating: "\n", count: lines))
        #expect(FileShape().violations(in: [file]).count == violations)
    }

    @Test func aspectOfATypeThatIsNotThereIsFound() {
        #expect(FileShape().violations(in: [SourceFile(path: "A+B.swift", text: "extension C {}")]).count == 1)
    }

    @Test(arguments: [(50, 0), (49, 1)])
    func fileOfTheLibraryIsShortBelowTheLimit(lines: Int, violations: Int) {
        let text = "struct A {}" + String(repeating: "\n", count: lines)
        let file = SourceFile(path: "Sources/Requests/A.swift", text: text)
        #expect(FileShape().violations(in: [file]).count == violations)
    }

    @Test(arguments: ["\n", String(repeating: "\n", count: 501)])
    func exceptionIsAllowed(rest: String) {
        let file = SourceFile(path: "Sources/Requests/A.swift", text: "struct A {}" + rest)
        let shape = FileShape(long: [file.path: "a table"], short: [file.path: "an import"])
        #expect(shape.violations(in: [file]) == [])
    }

    @Test func medianIsTheLengthOfTheMiddleFile() {
        let files = [1, 900, 2].map { SourceFile(path: "A.swift", text: String(repeating: "\n", count: $0)) }
        #expect(FileShape().median(of: files) == 2)
    }
}

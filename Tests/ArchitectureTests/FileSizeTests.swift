// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The rules about the size of files and what they are called: one thing a file, found by its name.
struct FileShape {
    /// Files that may be longer, since they are tables of names, with what the table is of.
    var tables: [String: String] = [:]
    /// Files that may hold several public types, with the reason.
    var severalPublicTypes: [String: String] = [:]

    static let house = FileShape()

    static let longest = 500
    static let median = 150

    func violations(in files: [SourceFile]) -> [String] {
        files.flatMap { [length(of: $0), publicTypes(of: $0), name(of: $0)].compactMap { $0 } }
    }

    /// The median is of all files together: one may be long, but not every other.
    func median(of files: [SourceFile]) -> Int {
        let lengths = files.map(\.lines.count).sorted()
        return lengths.isEmpty ? 0 : lengths[lengths.count / 2]
    }

    private func length(of file: SourceFile) -> String? {
        guard file.lines.count > Self.longest, tables[file.path] == nil else { return nil }
        return file.finding(atLine: file.lines.count, "is longer than \(Self.longest) lines")
    }

    private func publicTypes(of file: SourceFile) -> String? {
        let types = file.topLevelTypes.filter { $0.isPublic && $0.kind != .typealias }
        guard types.count > 1, severalPublicTypes[file.path] == nil else { return nil }
        let names = types.map(\.name).joined(separator: ", ")
        return file.finding(atLine: types[1].line, "has several public types: \(names)")
    }

    /// `Type.swift` declares the type; `Type+Aspect.swift` declares or extends it.
    ///
    /// A file without any type, such as the main file of a program, is called as it likes.
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
    @Test func filesAreShortAndNamedAfterTheirOneType() {
        #expect(FileShape.house.violations(in: SourceTree.sources) == [])
    }

    @Test func medianFileFitsOnAFewScreens() {
        #expect(FileShape.house.median(of: SourceTree.sources) <= FileShape.median)
    }

    @Test func exceptionsAreOfFilesThatExist() {
        let paths = Set(SourceTree.sources.map(\.path))
        let exceptions = Set(FileShape.house.tables.keys).union(FileShape.house.severalPublicTypes.keys)
        #expect(exceptions.subtracting(paths) == [])
    }
}

@Suite(.bounded) struct FileShapeRuleTests {
    @Test(arguments: [
        "struct B {}",
        "extension A {}",
        "public struct A {}\npublic enum B {}",
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

    @Test(arguments: [(500, 0), (501, 1)])
    func fileIsLongPastTheLimit(lines: Int, violations: Int) {
        let file = SourceFile(path: "A.swift", text: "struct A {}" + String(repeating: "\n", count: lines))
        #expect(FileShape().violations(in: [file]).count == violations)
    }

    @Test func aspectOfATypeThatIsNotThereIsFound() {
        #expect(FileShape().violations(in: [SourceFile(path: "A+B.swift", text: "extension C {}")]).count == 1)
    }

    @Test func exceptionIsAllowed() {
        let text = "public struct A {}\npublic enum B {}" + String(repeating: "\n", count: 501)
        let file = SourceFile(path: "A.swift", text: text)
        let shape = FileShape(tables: ["A.swift": "names"], severalPublicTypes: ["A.swift": "twins"])
        #expect(shape.violations(in: [file]) == [])
    }

    @Test func medianIsTheLengthOfTheMiddleFile() {
        let files = [1, 900, 2].map { SourceFile(path: "A.swift", text: String(repeating: "\n", count: $0)) }
        #expect(FileShape().median(of: files) == 2)
    }
}

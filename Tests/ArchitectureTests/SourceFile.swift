// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A Swift file, as far as a rule about its code reads it.
///
/// The reader knows the style of this repository: no block comments, and multi-line literals that begin and end on
/// lines of their own.
struct SourceFile {
    /// The path, relative to the root of the repository.
    let path: String
    /// The lines, unchanged.
    let lines: [Substring]
    /// The code of each line, without comments and the contents of literals.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var isInLiteral = false
        code = lines.map { line in
            guard line.contains("\"\"\"") else { return isInLiteral ? "" : Self.code(of: line) }
            isInLiteral.toggle()
            return isInLiteral
                ? Self.code(of: line[..<(line.firstRange(of: "\"\"\"")?.lowerBound ?? line.endIndex)]) : ""
        }
    }

    /// Removes the comment and the contents of the literals of one line.
    private static func code(of line: Substring) -> String {
        guard line.contains("\"") || line.contains("//") else { return String(line) }
        var code = ""
        var isInLiteral = false
        var rest = line[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\" where isInLiteral: _ = rest.popFirst()
            case "\"":
                isInLiteral.toggle()
                code.append(character)
            case "/" where !isInLiteral && rest.first == "/": return code
            default: if !isInLiteral { code.append(character) }
            }
        }
        return code
    }

    /// Returns a finding in the format of compilers, for the line of an index.
    func finding(at index: Int, _ message: String) -> String {
        "\(path):\(index + 1): \(message)"
    }

    /// The names in a line of code, without those of members: of `a.b.C`, only `a`.
    static func names(in code: String) -> [Substring] {
        code.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"): false
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            default: true
            }
        }.map { Substring($0.prefix { $0 != UInt8(ascii: ".") }) }
    }

    private static let keywords: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The name of the type that a line of code declares, if it declares one.
    static func declaration(in code: String) -> String? {
        names(in: code).drop { !keywords.contains($0) }.dropFirst().first.map(String.init)
    }

    /// Returns the files below a folder of the repository, in the order of their paths.
    static func all(below folder: String) -> [SourceFile] {
        let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects as? [String]
        return (names ?? []).filter { $0.hasSuffix(".swift") }.sorted().map {
            SourceFile(path: "\(folder)/\($0)", text: text(of: "\(folder)/\($0)"))
        }
    }

    /// Returns the text of a file of the repository; an empty text if it can't be read.
    static func text(of path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    /// Returns the path of a file relative to the root of the repository; `nil` if the file isn't there.
    static func path(of file: String) -> String? {
        guard file.hasPrefix("\(root.path)/"), FileManager.default.fileExists(atPath: file) else { return nil }
        return String(file.dropFirst(root.path.count + 1))
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Testing

/// The rules about unchecked promises to the compiler, and about code that ends the program.
enum Safety {
    /// The types that may be `@unchecked Sendable`, with the reason.
    ///
    /// There are three valid reasons. It is the lock. It is an operation, whose class inherits Foundation's promise and
    /// must repeat it. It is an object that a system library calls. Any other shared state is in a `Locked`, which the
    /// compiler checks.
    static let unchecked = [
        "Locked": "the lock",
        "AsynchronousOperation": "an operation",
        "AnyRequestOperation": "an operation",
        "SubrequestOperation": "an operation",
        "PreparationOperation": "an operation",
        "RequestOperation": "an operation",
        "NetworkOperation": "an operation",
        "DataOperation": "an operation",
        "DecodableOperation": "an operation",
        "NoContentOperation": "an operation",
        "StreamOperation": "an operation",
        "DownloadOperation": "an operation",
        "WebSocketOperation": "an operation",
        "OperationGroup": "an operation",
        "RequestGroup": "an operation",
        "OperationGate": "an operation",
        "RequestSubscription": "the object that Combine calls",
        "SessionDelegate": "the delegate of a URLSession",
        "SessionSocket": "the delegate of a task of a URLSession",
        "BodyWriter": "the delegate of a stream",
        "CurlLoop": "the libcurl loop",
        "CurlTransfer": "a part of the libcurl loop",
    ]

    /// Returns each promise that isn't in the list or has no reason above it, and each use of what ends the program.
    static func violations(in file: SourceFile) -> [String] {
        file.code.indices.flatMap { index in
            let line = file.code[index]
            var findings: [String] = []
            if line.contains("@unchecked") {
                // The inheritance clause may begin on another line than the declaration.
                let start = file.code[...index].lastIndex { SourceFile.declaration(in: $0) != nil } ?? index
                let type = SourceFile.declaration(in: file.code[start]) ?? ""
                if unchecked[type] == nil { findings.append("`@unchecked` is for the types that SafetyTests lists") }
                if !hasReason(file, above: start) { findings.append("no `// Sendable:` comment is directly above it") }
            }
            if ends(line) {
                findings.append("code that can end the program, or lie to the compiler, is not used in Sources")
            }
            if line.contains("@preconcurrency"), !line.contains("import ") {
                findings.append("`@preconcurrency` is for imports")
            }
            return findings.map { file.finding(at: index, $0) }
        }
    }

    /// Whether a line of code can end the program, or keeps the compiler from seeing a race.
    private static func ends(_ line: String) -> Bool {
        if line.contains("try!") || line.contains("nonisolated(unsafe)") { return true }
        // A method with one of the names is unrelated.
        return ["fatalError(", "precondition(", "preconditionFailure("].contains { trap in
            line.firstRange(of: trap).map { found in
                let last = line[..<found.lowerBound].last ?? " "
                return last != "." && !last.isLetter && !line.contains("func ")
            } ?? false
        }
    }

    /// Whether the comment above a declaration, or above its attributes, has a line that begins `// Sendable:`.
    private static func hasReason(_ file: SourceFile, above index: Int) -> Bool {
        file.lines[..<index].reversed().lazy
            .map { $0.drop { $0 == " " } }
            .drop { $0.hasPrefix("@") }
            .prefix { $0.hasPrefix("//") && !$0.hasPrefix("///") }
            .contains { $0.hasPrefix("// Sendable: ") }
    }
}

@Suite struct SafetyTests {
    @Test func sourcesContainOnlyListedUnsafeCode() {
        #expect(SourceFile.all(below: "Sources").flatMap(Safety.violations) == [])
    }

    @Test func listHasOnlyNecessaryEntries() {
        let files = SourceFile.all(below: "Sources").filter { $0.code.contains { $0.contains("@unchecked") } }
        let named = Set(files.flatMap(\.code).filter { !$0.hasPrefix(" ") }.flatMap(SourceFile.names))
        #expect(Safety.unchecked.keys.filter { !named.contains(Substring($0)) } == [])
    }

    @Test(arguments: [
        "// Sendable: why.\nclass Locked: @unchecked Sendable {}",
        "// Sendable: why.\n@frozen\nclass Locked: @unchecked Sendable {}",
        "@preconcurrency import Dispatch", "let a = try? b()", "let a = headers.precondition(b)",
        "// try! fatalError()",
    ])
    func ignoresAllowedCode(code: String) {
        #expect(Safety.violations(in: SourceFile(path: "A.swift", text: code)) == [])
    }

    @Test(arguments: [
        "// Sendable: why.\nstruct B: @unchecked Sendable {}", "class Locked: @unchecked Sendable {}",
        "// Sendable: why.\n\nclass Locked: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1",
        "let a = try! b()",
        "fatalError()", "preconditionFailure(\"no\")", "precondition(a)", "@preconcurrency protocol B {}",
    ])
    func detectsViolation(code: String) {
        #expect(Safety.violations(in: SourceFile(path: "A.swift", text: code)).count == 1)
    }
}

/// The page about security names tests that exist.
@Suite struct SecurityPageTests {
    @Test func namedSuitesExist() {
        let words = SourceFile.text(of: ".github/SECURITY.md").split(separator: "`").map(String.init)
        let named = Set(words.filter { $0.hasSuffix("Tests") && $0.allSatisfy { $0.isLetter || $0.isNumber } })
        let folders = ["BehaviourTests", "IntegrationTests", "RequestsTests", "RequestsTestingTests"]
        let lines = folders.flatMap { SourceFile.all(below: "Tests/\($0)") }.flatMap(\.code)
        let suites = lines.filter { $0.contains("Tests") }.compactMap(SourceFile.declaration)

        #expect(named.count > 30)
        #expect(named.subtracting(suites) == [])
    }
}

/// The package has no dependencies: a user who takes it takes nothing else.
@Suite struct ManifestTests {
    @Test func packageHasNoDependencies() {
        let code = SourceFile(path: "Package.swift", text: SourceFile.text(of: "Package.swift")).code
        #expect(code.contains { $0.contains("    dependencies: [],") })
        #expect(code.filter { $0.contains(".package(") || $0.contains(".product(") } == [])
    }
}

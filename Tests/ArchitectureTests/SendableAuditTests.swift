// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The rules about unchecked promises to the compiler, and about code that ends the program.
struct SendableAudit {
    /// The types that may be `@unchecked Sendable`, with the reason.
    ///
    /// There are three valid reasons. It is the lock. It is an operation, whose class inherits Foundation's promise and
    /// must repeat it. It is the delegate of a Foundation object, which has to be an `NSObject`. Any other shared state
    /// is in a `Locked`, which the compiler checks.
    static let house = SendableAudit(unchecked: [
        "Locked": "the lock",
        "AsynchronousOperation": "an operation",
        "RequestOperation": "an operation",
        "NetworkOperation": "an operation",
        "DataOperation": "an operation",
        "DecodableOperation": "an operation",
        "NoContentOperation": "an operation",
        "StreamOperation": "an operation",
        "DownloadOperation": "an operation",
        "OperationGroup": "an operation",
        "RequestGroup": "an operation",
        "OperationGate": "an operation",
        "RequestSubscription": "the object that Combine calls",
        "SessionDelegate": "the delegate of a URLSession",
        "CurlLoop": "the libcurl loop",
        "CurlTransfer": "a part of the libcurl loop",
    ])

    let unchecked: [String: String]

    func violations(in files: [SourceFile]) -> [String] {
        files.flatMap { unexplained(in: $0) + forbidden(in: $0) }
    }

    /// Returns the entries of the list that no type needs any more.
    func staleEntries(in files: [SourceFile]) -> [String] {
        Set(unchecked.keys).subtracting(files.flatMap(\.uncheckedTypes).map(\.qualifiedName)).sorted()
    }

    private func unexplained(in file: SourceFile) -> [String] {
        let types = file.uncheckedTypes
        let unlisted = types.filter { unchecked[$0.qualifiedName] == nil }.map {
            file.finding(
                atLine: $0.line,
                "\($0.qualifiedName) is @unchecked Sendable and not in the list of SendableAuditTests"
            )
        }
        let silent = types.filter { !file.explainsSendable(above: $0.line) }.map {
            file.finding(atLine: $0.line, "\($0.qualifiedName) has no `// Sendable:` comment directly above it")
        }
        let elsewhere = file.occurrences(of: "@", "unchecked").count - types.count
        let stray = elsewhere > 0 ? [file.finding(atLine: 1, "has an @unchecked that belongs to no type")] : []
        return unlisted + silent + stray
    }

    private func forbidden(in file: SourceFile) -> [String] {
        let calls = ["fatalError", "preconditionFailure", "precondition"].flatMap { name in
            // A method with that name is unrelated.
            file.occurrences(of: name, "(").filter { $0 == 0 || ![".", "func"].contains(file.tokens[$0 - 1].text) }
        }
        let words = file.occurrences(of: "nonisolated", "(", "unsafe") + file.occurrences(of: "try", "!")
        let preconcurrency = file.occurrences(of: "@", "preconcurrency").filter { index in
            let words = file.tokens.dropFirst(index + 2)
            return words.first { !["public", "package", "internal"].contains($0.text) }?.text != "import"
        }
        return (calls + words + preconcurrency).sorted().map { index in
            let code = file.tokens[index...].prefix(3).map(\.text).joined(separator: " ")
            return file.finding(atLine: file.tokens[index].line, "`\(code)` is not used in Sources")
        }
    }
}

extension SourceFile {
    fileprivate var uncheckedTypes: [Declaration] {
        declarations.filter { type in
            zip(type.header, type.header.dropFirst()).contains { $0.text == "@" && $1.text == "unchecked" }
        }
    }

    /// Whether the comment above a declaration, or above its attributes, has a line that begins `// Sendable:`.
    fileprivate func explainsSendable(above line: Int) -> Bool {
        lines.prefix(line - 1).reversed().lazy
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .drop { $0.hasPrefix("@") }
            .prefix { $0.hasPrefix("//") && !$0.hasPrefix("///") }
            .contains { $0.hasPrefix("// Sendable: ") }
    }
}

@Suite(.bounded) struct SendableAuditTests {
    @Test func promisesToTheCompilerAreListedAndExplained() {
        #expect(SendableAudit.house.violations(in: SourceTree.sources) == [])
    }

    @Test func listHasNoEntryThatIsNotNeeded() {
        #expect(SendableAudit.house.staleEntries(in: SourceTree.sources) == [])
    }
}

@Suite(.bounded) struct SendableAuditRuleTests {
    private let audit = SendableAudit(unchecked: ["A": "the lock", "A.Storage": "its storage"])

    @Test(arguments: [
        "// Sendable: why.\nstruct B: @unchecked Sendable {}",
        "struct A: @unchecked Sendable {}",
        "// Sendable: why.\n\nstruct A: @unchecked Sendable {}",
        "/// Sendable: why.\nstruct A: @unchecked Sendable {}",
        "// Sendable: why.\nextension B: @unchecked Sendable {}",
        "let a = b as? @unchecked Sendable",
        "nonisolated(unsafe) var a = 1",
        "let a = try! b()",
        "fatalError()",
        "preconditionFailure(\"no\")",
        "precondition(a)",
        "@preconcurrency protocol B {}",
    ])
    func violationIsFound(in code: String) {
        #expect(audit.violations(in: [SourceFile(path: "A.swift", text: code)]).count == 1)
    }

    @Test(arguments: [
        "// Sendable: why.\nstruct A: @unchecked Sendable {}",
        "// Sendable: why,\n// at length.\n@frozen\npublic final class A<T>: Operation, @unchecked Sendable where T: B {}",
        "struct A {\n    // Sendable: why.\n    class Storage: @unchecked Sendable {}\n}",
        "@preconcurrency import Dispatch",
        "@preconcurrency public import Dispatch",
        "nonisolated(nonsending) func a() async {}",
        "let a = try? b(), c = try b()",
        "let a = headers.precondition(b)",
        "// try! fatalError()",
    ])
    func allowedCodeIsNotFound(in code: String) {
        #expect(audit.violations(in: [SourceFile(path: "A.swift", text: code)]) == [])
    }

    @Test func staleEntryIsFound() {
        let file = SourceFile(path: "A.swift", text: "// Sendable: why.\nstruct A: @unchecked Sendable {}")
        #expect(audit.staleEntries(in: [file]) == ["A.Storage"])
    }
}

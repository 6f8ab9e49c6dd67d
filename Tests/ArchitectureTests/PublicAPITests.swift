// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The dumps of the public API exist, in an order that keeps their diffs small.
///
/// `Scripts/public-api --check`, a step of `Scripts/check`, checks that they are up to date. It can't be a test, since
/// it has to build: a build inside `swift test` waits for the lock that `swift test` holds.
@Suite(.bounded) struct PublicAPITests {
    @Test(arguments: ["Requests", "RequestsTesting"])
    func dumpIsSortedAndWithoutRepetition(module: String) throws {
        let lines = try lines(ofDumpOf: module)
        #expect(lines == Set(lines).sorted())
    }

    @Test(arguments: ["Requests", "RequestsTesting"])
    func everyLineIsASymbolAndItsDeclaration(module: String) throws {
        #expect(try lines(ofDumpOf: module).filter { !$0.contains(" | ") } == [])
    }

    @Test func dumpOfTheLibraryIsNotEmpty() throws {
        #expect(try !lines(ofDumpOf: "Requests").isEmpty)
    }

    private func lines(ofDumpOf module: String) throws -> [String] {
        let path = "Tests/ArchitectureTests/PublicAPI/\(module).txt"
        let text = try #require(SourceTree.text(of: path), "run Scripts/public-api --update")
        return text.split(separator: "\n").map(String.init)
    }
}

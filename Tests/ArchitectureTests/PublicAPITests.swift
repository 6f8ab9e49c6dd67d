// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The dumps of the public API are there, and in an order that keeps a difference small.
///
/// That they are up to date is checked by `Scripts/public-api --check`, a step of `Scripts/check` and not a test: it has
/// to build, and a build from inside `swift test` waits for the lock that `swift test` holds.
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

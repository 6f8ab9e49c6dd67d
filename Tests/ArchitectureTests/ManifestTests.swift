// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The rules about the root of the repository: no dependencies, and only the necessary files.
enum Manifest {
    static let rootEntries: Set = [
        "Package.swift", "Sources", "Tests", "Scripts", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
    ]

    /// Every sign of a dependency in a manifest.
    static func violations(in manifest: SourceFile) -> [String] {
        let packages = (manifest.occurrences(of: ".", "package", "(") + manifest.occurrences(of: ".", "product", "("))
            .map { manifest.finding(atLine: manifest.tokens[$0].line, "the package has no dependencies") }
        let isStated = !manifest.occurrences(of: "dependencies", ":", "[", "]").isEmpty
        return packages + (isStated ? [] : [manifest.finding(atLine: 1, "`dependencies: []` is missing")])
    }

    /// Returns every use of syntax that the compiler of the manifest's Swift version can't read; a newer one says nothing.
    ///
    /// It is for Swift 6.2, and for what a library like this one is likely to use of 6.3.
    static func novelties(in file: SourceFile) -> [String] {
        [
            ["@", "inline", "(", "always", ")"], ["@", "c"], ["@", "section"], ["@", "used"],
        ]
        .flatMap { novelty in
            file.tokens.indices.filter { file.tokens[$0...].prefix(novelty.count).map(\.text) == novelty }
                .map { file.finding(atLine: file.tokens[$0].line, "Swift 6.2 has no `\(novelty.joined())`") }
        }
    }

    static func strangers(among entries: [String]) -> [String] {
        entries.filter { !rootEntries.contains($0) && !$0.hasPrefix(".") }
    }
}

@Suite(.bounded) struct ManifestTests {
    @Test func packageHasNoDependencies() throws {
        let text = try #require(SourceTree.text(of: "Package.swift"))
        #expect(Manifest.violations(in: SourceFile(path: "Package.swift", text: text)) == [])
    }

    @Test func oldestCompilerReadsAllSources() throws {
        #expect(try #require(SourceTree.text(of: "Package.swift")).hasPrefix("// swift-tools-version: 6.2\n"))
        #expect(SourceTree.sources.flatMap(Manifest.novelties) == [])
    }

    @Test func rootHoldsNothingElse() {
        #expect(Manifest.strangers(among: SourceTree.rootEntries()) == [])
    }

    @Test func attacksAreTestedByTheTestsThatAreNamed() throws {
        let text = try #require(SourceTree.text(of: ".github/SECURITY.md"))
        let named = Set(text.matches(of: /`(\w+Tests)`/).map { String($0.1) })
        let files = Set(SourceTree.paths(below: "Tests").compactMap { $0.split(separator: "/").last.map(String.init) })

        #expect(named.count > 20)
        #expect(named.filter { !files.contains($0 + ".swift") } == [])
    }
}

@Suite(.bounded) struct ManifestRuleTests {
    @Test(arguments: [
        "Package(dependencies: [.package(url: \"https://example.com/a\", from: \"1.0.0\")], x(dependencies: []))",
        "Package(dependencies: [], .target(dependencies: [.product(name: \"A\", package: \"a\")]))",
        "Package(name: \"Requests\") // dependencies: []",
    ])
    func dependencyIsFound(manifest: String) {
        #expect(Manifest.violations(in: SourceFile(path: "Package.swift", text: manifest)).count == 1)
    }

    @Test(arguments: ["@inline(always) func a() {}", "@c func a() {}"])
    func noveltyIsFound(code: String) {
        #expect(Manifest.novelties(in: SourceFile(path: "A.swift", text: code)).count == 1)
        #expect(Manifest.novelties(in: SourceFile(path: "A.swift", text: "// \(code)")) == [])
    }

    @Test func strangerInTheRootIsFound() {
        #expect(Manifest.strangers(among: ["Sources", "Examples", ".ci"]) == ["Examples"])
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

/// Every snippet of the README, the first page and the articles is in this target, word for word, where it is compiled
/// and run.
@Suite(.bounded) struct SnippetTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let documents: [URL] = {
        let modules = ["Requests", "RequestsWebSockets", "RequestsOutbox"]
        let catalogues = modules.map { root.appending(path: "Sources/\($0)/\($0).docc") }
        let pages = catalogues.flatMap { catalogue in
            (FileManager.default.enumerator(at: catalogue, includingPropertiesForKeys: nil)?.allObjects ?? [])
                .compactMap { $0 as? URL }.filter { $0.pathExtension == "md" }
        }
        return [root.appending(path: "README.md")] + pages.sorted { $0.path < $1.path }
    }()

    static let tests = sources(in: "Tests/DocumentationTests")
    /// The sources that `Scripts/isolation` compiles with the main actor as the default isolation.
    static let isolated = sources(in: "Tests/Isolation/Sources/Files")

    static func sources(in path: String) -> [String] {
        let folder = root.appending(path: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".swift") && $0 != "SnippetTests.swift" }.compactMap {
            (try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)).map(normalised)
        }
    }

    /// Returns the words, separated by one space: the formatter and a document may differ in white space.
    static func normalised(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    static func snippets(of markdown: String) -> [String] {
        markdown.components(separatedBy: "```swift\n").dropFirst().map {
            normalised($0.components(separatedBy: "```")[0])
        }
    }

    @Test func documentsContainSnippets() {
        #expect(Self.documents.count > 4)
        #expect(Self.snippets(of: "a\n```swift\n  let a = 1\n\n  let b = 2\n```\nb") == ["let a = 1 let b = 2"])
    }

    @Test(arguments: documents)
    func snippetsAppearInTests(document: URL) throws {
        let text = try String(contentsOf: document, encoding: .utf8)
        for snippet in Self.snippets(of: text) {
            #expect(
                Self.tests.contains { $0.contains(snippet) },
                "no test has this snippet of \(document.lastPathComponent)"
            )
        }
    }

    @Test(
        arguments: [
            "README.md", "GettingStarted.md", "DefiningRequests.md", "RunningRequests.md", "SwiftConcurrency.md",
        ]
    )
    func introSnippetsCompileOnMainActor(document: String) throws {
        let url = try #require(Self.documents.first { $0.lastPathComponent == document })
        let snippets = Self.snippets(of: try String(contentsOf: url, encoding: .utf8))
        #expect(!snippets.isEmpty)
        for snippet in snippets {
            #expect(
                Self.isolated.contains { $0.contains(snippet) },
                "Tests/Isolation/Sources/Files lacks this snippet of \(document)"
            )
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The rule that code uses only layers below it, as if every folder were a module.
///
/// Modules would enforce it better. But users would need an import for each, and the optimiser couldn't see across
/// them.
struct Layering {
    /// The folders of `Sources/Requests`, lowest first. Those on one line are peers and don't know each other.
    static let house = Layering(layers: [
        ["Support"],
        ["Message"],
        ["Response"],
        ["Trust", "Progress"],
        ["Interception"],
        ["Authentication", "Caching", "Connectivity", "Cookies", "Limits", "Redirects"],
        ["Transport", "Observation"],
        ["Engine"],
        ["Requests"],
        ["Queue"],
    ])

    let layers: [[String]]

    /// Returns every mention of a type of a higher layer, and every file that is in no layer.
    func violations(in files: [SourceFile]) -> [String] {
        let placed = files.compactMap { file in folder(of: file).map { (file, $0) } }
        let homeless = files.filter { folder(of: $0) == nil }.map {
            $0.finding(atLine: 1, "is in no layer; \(Self.root) holds \(layers.joined().joined(separator: ", "))")
        }
        let owners = owners(of: placed)
        return homeless
            + placed.flatMap { file, folder in
                // A layer may have a type with the name of a higher one, and then means its own.
                let known = Set(owners.filter { isVisible($0.folder, from: folder) }.map(\.simpleName))
                let hidden = owners.filter { !isVisible($0.folder, from: folder) }
                return mentions(of: hidden, besides: known, in: file).map { token, owner in
                    file.finding(
                        atLine: token.line,
                        "\(folder) mentions \(owner.name), which \(owner.folder) declares"
                    )
                }
            }
    }

    /// Returns the dependencies between the folders as a Mermaid flowchart: an arrow points to a folder whose types are
    /// used.
    ///
    /// An arrow is omitted if others already lead the same way.
    func flowchart(of files: [SourceFile]) -> String {
        let arrows = arrows(in: files)
        func leads(_ start: String, to end: String) -> Bool {
            arrows[start, default: []].contains { $0 == end || leads($0, to: end) }
        }
        let lines = layers.joined().flatMap { folder in
            let direct = arrows[folder, default: []].sorted()
            return direct.filter { end in !direct.contains { $0 != end && leads($0, to: end) } }
                .map { "    \(folder) --> \($0)" }
        }
        return (["flowchart BT"] + lines).joined(separator: "\n")
    }

    /// Returns the lower folders whose types each folder mentions.
    private func arrows(in files: [SourceFile]) -> [String: Set<String>] {
        let placed = files.compactMap { file in folder(of: file).map { (file, $0) } }
        let owners = owners(of: placed)
        let perFile = placed.map { file, folder in
            let own = Set(owners.filter { $0.folder == folder }.map(\.simpleName))
            let below = owners.filter { level(of: $0.folder) < level(of: folder) }
            return (folder, Set(mentions(of: below, besides: own, in: file).map(\.1.folder)))
        }
        return Dictionary(perFile, uniquingKeysWith: { $0.union($1) })
    }

    /// A type, and the folder that declares it.
    private struct Owner {
        let name: String
        let folder: String
        /// Whether the last part of the name is distinctive enough to be searched for alone.
        let isTelling: Bool

        var parts: [String] { name.split(separator: ".").map(String.init) }
        var simpleName: String { parts.last ?? name }
    }

    private static let root = "Sources/Requests"

    private func folder(of file: SourceFile) -> String? {
        file.folder(below: Self.root).flatMap { layers.joined().contains($0) ? $0 : nil }
    }

    private func isVisible(_ folder: String, from other: String) -> Bool {
        guard folder != other else { return true }
        return level(of: folder) < level(of: other)
    }

    private func level(of folder: String) -> Int {
        layers.firstIndex { $0.contains(folder) } ?? layers.count
    }

    /// Returns the types that can be found by name: top-level types, and types nested in extensions.
    ///
    /// The latter are searched for by their full name (`HTTPField.Name`). The last part alone is searched for only if
    /// it is unique and has two words: many files have a `Name` or a `State` of their own. Types nested in the type
    /// itself need no search, since their mention names the outer type too.
    private func owners(of files: [(SourceFile, folder: String)]) -> [Owner] {
        let declared = files.flatMap { file, folder in
            file.declarations.filter { $0.kind != .extension && $0.scope != .local }.map { ($0, folder) }
        }
        let counts = Dictionary(declared.map { ($0.0.name, 1) }, uniquingKeysWith: +)
        return declared.map { declaration, folder in
            let isUnique = counts[declaration.name] == 1 && declaration.name.filter(\.isUppercase).count > 1
            switch declaration.scope {
            case .topLevel:
                return Owner(name: declaration.name, folder: folder, isTelling: true)
            case .nested(_, isExtension: true):
                return Owner(name: declaration.qualifiedName, folder: folder, isTelling: isUnique)
            case .nested, .local:
                return Owner(name: declaration.qualifiedName, folder: folder, isTelling: false)
            }
        }
    }

    private func mentions(of hidden: [Owner], besides known: Set<String>, in file: SourceFile) -> [(Token, Owner)] {
        let byLastPart = Dictionary(grouping: hidden, by: \.simpleName)
        return file.tokens.indices.compactMap { index in
            let owner = byLastPart[file.tokens[index].text]?.first { owner in
                let path = path(endingAt: index, in: file.tokens)
                guard path.count == 1 else { return path == owner.parts || path == ["Requests"] + owner.parts }
                return owner.isTelling && !known.contains(owner.simpleName)
            }
            return owner.map { (file.tokens[index], $0) }
        }
    }

    /// Returns the names before a name, separated by dots, and that name.
    ///
    /// A member, such as `metrics.Request`, isn't the type with that name.
    private func path(endingAt index: Int, in tokens: [Token]) -> [String] {
        guard index >= 1, tokens[index - 1].text == "." else { return [tokens[index].text] }
        guard index >= 2, tokens[index - 2].isWord else { return ["", tokens[index].text] }
        return path(endingAt: index - 2, in: tokens) + [tokens[index].text]
    }
}

/// The rules about the names of folders and paths.
enum Naming {
    /// Folder names that say nothing about the contents.
    static let drawers: Set = ["Utils", "Helpers", "Core", "Common", "Base", "Internal", "Extensions"]

    static func violations(in paths: [String]) -> [String] {
        paths.flatMap { path in
            let folders = path.split(separator: "/").dropLast().map(String.init)
            let drawer = folders.first(where: drawers.contains).map { "\(path): no folder is called \($0)" }
            let space = path.contains(" ") ? "\(path): no path has a space" : nil
            return [drawer, space].compactMap { $0 }
        }
    }
}

/// The rule that `RequestsTesting` works with any test framework, and without one.
enum TestFrameworks {
    static func violations(in files: [SourceFile]) -> [String] {
        files.filter { $0.path.hasPrefix("Sources/RequestsTesting/") }.flatMap { file in
            let testing = file.occurrences(of: "import", "Testing")
            return (file.occurrences(of: "XCTest") + testing).map {
                file.finding(atLine: file.tokens[$0].line, "RequestsTesting knows no test framework")
            }
        }
    }
}

@Suite(.bounded) struct LayeringTests {
    @Test func codeMentionsOnlyTypesOfItsOwnLayerAndBelow() {
        let library = SourceTree.sources.filter { $0.path.hasPrefix("Sources/Requests/") }
        #expect(Layering.house.violations(in: library) == [])
    }

    @Test func articleDrawsTheArrowsThatAreThere() {
        let library = SourceTree.sources.filter { $0.path.hasPrefix("Sources/Requests/") }
        let article = SourceTree.text(of: "Sources/Requests/Requests.docc/Articles/Architecture.md") ?? ""
        let flowchart = Layering.house.flowchart(of: library)
        #expect(article.contains("```mermaid\n\(flowchart)\n```"), "the article has to show:\n\(flowchart)")
    }

    @Test func foldersAreNamedAfterTheirContents() {
        let paths = ["Sources", "Tests", "Scripts"].flatMap(SourceTree.paths(below:))
        #expect(Naming.violations(in: paths) == [])
    }

    @Test func testingSupportKnowsNoTestFramework() {
        #expect(TestFrameworks.violations(in: SourceTree.sources) == [])
    }
}

@Suite(.bounded) struct LayeringRuleTests {
    private let client = SourceFile(path: "Sources/Requests/Queue/HTTPClient.swift", text: "struct HTTPClient {}")

    @Test(arguments: ["let a: HTTPClient", "f(Requests.HTTPClient())", #"let a = "\(HTTPClient.self)""#])
    func mentionFromBelowIsFound(in code: String) {
        let file = SourceFile(path: "Sources/Requests/Message/A.swift", text: "\n" + code)
        let expected = "Sources/Requests/Message/A.swift:2: Message mentions HTTPClient, which Queue declares"
        #expect(Layering.house.violations(in: [file, client]) == [expected])
    }

    @Test(arguments: ["// HTTPClient", #"let a = "HTTPClient""#, "let a = b.HTTPClient", "let a: HTTPClients"])
    func unrelatedTextIsNotFound(in code: String) {
        let file = SourceFile(path: "Sources/Requests/Message/A.swift", text: code)
        #expect(Layering.house.violations(in: [file, client]) == [])
    }

    @Test func arrowThatOthersImplyIsNotDrawn() {
        let files = [
            SourceFile(path: "Sources/Requests/Support/A.swift", text: "struct Alpha {}"),
            SourceFile(path: "Sources/Requests/Message/B.swift", text: "struct Beta { let a: Alpha }"),
            SourceFile(path: "Sources/Requests/Queue/C.swift", text: "struct Gamma { let a: Alpha; let b: Beta }"),
        ]
        let expected = "flowchart BT\n    Message --> Support\n    Queue --> Message"
        #expect(Layering.house.flowchart(of: files) == expected)
    }

    @Test func mentionFromAboveIsAllowed() {
        let file = SourceFile(path: "Sources/Requests/Queue/A.swift", text: "let a: HTTPClient")
        #expect(Layering.house.violations(in: [file, client]) == [])
    }

    @Test(arguments: [("Transport", "Observation"), ("Observation", "Transport"), ("Caching", "Cookies")])
    func peersDoNotKnowEachOther(one: String, other: String) {
        let files = [
            SourceFile(path: "Sources/Requests/\(one)/A.swift", text: "let a: BType"),
            SourceFile(path: "Sources/Requests/\(other)/B.swift", text: "struct BType {}"),
        ]
        #expect(Layering.house.violations(in: files).count == 1)
    }

    @Test(arguments: ["HTTPHeaders.Name", "HTTPHeaders.SignedFields", "SignedFields"])
    func typeNestedInExtensionIsFoundWhereItIsMeant(mention: String) {
        let files = [
            SourceFile(
                path: "Sources/Requests/Message/HTTPHeaders.swift",
                text: "struct HTTPHeaders { let a: \(mention) }"
            ),
            SourceFile(
                path: "Sources/Requests/Engine/HTTPHeaders+Signed.swift",
                text: "extension HTTPHeaders { struct SignedFields {}; struct Name {} }"
            ),
        ]
        #expect(Layering.house.violations(in: files).count == 1)
    }

    @Test func ownTypeHidesOneOfTheSameNameAbove() {
        let files = [
            SourceFile(path: "Sources/Requests/Message/Form.swift", text: "enum Form { struct Item {}; let a: Item }"),
            SourceFile(path: "Sources/Requests/Queue/Item.swift", text: "struct Item {}"),
        ]
        #expect(Layering.house.violations(in: files) == [])
    }

    @Test(arguments: ["Sources/Requests/A.swift", "Sources/Requests/Elsewhere/A.swift"])
    func fileOutsideOfTheLayersIsFound(path: String) {
        #expect(Layering.house.violations(in: [SourceFile(path: path, text: "")]).count == 1)
    }

    @Test(arguments: ["Sources/Requests/Utils/A.swift", "Tests/Base/A.swift", "Sources/My Files/A.swift"])
    func badPathIsFound(path: String) {
        #expect(Naming.violations(in: [path]).count == 1)
    }

    @Test(arguments: ["import Testing", "import XCTest", "XCTestCase() as XCTest"])
    func testFrameworkIsFound(code: String) {
        let file = SourceFile(path: "Sources/RequestsTesting/A.swift", text: code)
        #expect(TestFrameworks.violations(in: [file]).count == 1)
    }
}

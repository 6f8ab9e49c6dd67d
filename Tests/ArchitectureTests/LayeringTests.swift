// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

/// The rule that code uses only layers below it, as if every folder were a module.
///
/// Real modules are only for what the core doesn't use: each costs its users an import, and the optimizer doesn't see
/// across them.
struct Layering {
    /// The folders of `Sources/Requests`, lowest first. Those on one line are peers and don't know each other.
    static let layers = [
        ["Support"],
        ["Message"],
        ["Response"],
        ["Trust", "Progress"],
        ["Interception"],
        ["Authentication", "Caching", "Connectivity", "Cookies", "Limits", "Redirects"],
        ["Transport", "Observation"],
        ["Engine"],
        ["RequestTypes"],
        ["Queue"],
    ]

    /// A reference to a symbol that another folder declares.
    private struct Use {
        let path: String
        let folder: String
        let occurrence: IndexedFile.Occurrence
        let owner: String

        var isUpward: Bool { Layering.level(of: owner) >= Layering.level(of: folder) }
        var finding: String {
            "\(path):\(occurrence.line): \(folder) uses \(occurrence.name), which \(owner) declares"
        }
    }

    private let homeless: [String]
    private let uses: [Use]

    init(_ files: [IndexedFile]) {
        let placed = files.compactMap { file in Self.folder(of: file.path).map { (file: file, folder: $0) } }
        homeless = files.map(\.path).filter { Self.folder(of: $0) == nil }
        let owners = Self.owners(of: placed)
        uses = placed.flatMap { file, folder in
            file.occurrences.compactMap { occurrence in
                guard !occurrence.isDefinition, let owner = owners[occurrence.usr], owner != folder else { return nil }
                return Use(path: file.path, folder: folder, occurrence: occurrence, owner: owner)
            }
        }
    }

    /// Every use of a symbol of a higher layer or of a peer, and every file that is in no layer.
    var violations: [String] {
        homeless.map { "\($0) is in no layer" } + uses.filter(\.isUpward).map(\.finding)
    }

    /// The dependencies between the folders as a Mermaid flowchart: an arrow points to a folder whose symbols are used.
    ///
    /// An arrow is omitted if others already lead the same way.
    var flowchart: String {
        let arrows = Dictionary(
            uses.filter { !$0.isUpward }.map { ($0.folder, Set([$0.owner])) },
            uniquingKeysWith: { $0.union($1) }
        )
        func leads(_ start: String, to end: String) -> Bool {
            arrows[start, default: []].contains { $0 == end || leads($0, to: end) }
        }
        let lines = Self.layers.joined().flatMap { folder in
            let direct = arrows[folder, default: []].sorted()
            return direct.filter { end in !direct.contains { $0 != end && leads($0, to: end) } }
                .map { "    \(folder) --> \($0)" }
        }
        return (["flowchart BT"] + lines).joined(separator: "\n")
    }

    private static func level(of folder: String) -> Int {
        layers.firstIndex { $0.contains(folder) } ?? layers.count
    }

    private static func folder(of path: String) -> String? {
        let folders = path.split(separator: "/").map(String.init)
        return folders.count > 3 ? folders.dropFirst(2).first { layers.joined().contains($0) } : nil
    }

    /// The folder that defines each symbol, by its USR: the lowest one, if there are several.
    ///
    /// A member of an extension belongs to the folder of the extension, and not to that of the extended type.
    private static func owners(of files: [(file: IndexedFile, folder: String)]) -> [String: String] {
        Dictionary(
            files.flatMap { file, folder in file.occurrences.filter(\.isDefinition).map { ($0.usr, folder) } },
            uniquingKeysWith: { level(of: $1) < level(of: $0) ? $1 : $0 }
        )
    }
}

@Suite(.bounded) struct LayeringTests {
    private static let isIndexed = ConditionTrait.enabled(
        if: IndexStore.isExpected,
        "only a debug build with SwiftPM has an index of the symbols beside the tests"
    )

    private static let files = Result { try IndexStore.files(ofModule: "Requests") }
    private static let house = files.map(Layering.init)

    @Test(isIndexed) func codeDependsOnlyOnLowerLayers() throws {
        let violations = try Self.house.get().violations
        #expect(violations == [])
    }

    @Test(isIndexed) func indexContainsAllFilesAndMembers() throws {
        let indexed = try Self.files.get()
        let missing = Set(SourceFile.all(below: "Sources/Requests").map(\.path)).subtracting(indexed.map(\.path))
        #expect(missing == [], "build the tests again")
        #expect(indexed.flatMap(\.occurrences).contains { $0.name == "withLock(_:)" && !$0.isDefinition })
    }

    #if os(Linux)
    // Other platforms don't compile the libcurl transport, and lack some of its arrows.
    @Test(isIndexed) func articleShowsActualDependencies() throws {
        let article = SourceFile.text(of: "Sources/Requests/Requests.docc/Articles/Architecture.md")
        let flowchart = try Self.house.get().flowchart
        #expect(article.contains("```mermaid\n\(flowchart)\n```"), "the article has to show:\n\(flowchart)")
    }
    #endif

    /// In each case, one file of a folder contains one reference.
    @Test(arguments: [
        ("Message", "Client", ["Sources/Requests/Message/A.swift:7: Message uses Client, which Queue declares"]),
        ("Message", "send()", ["Sources/Requests/Message/A.swift:7: Message uses send(), which Queue declares"]),
        ("Caching", "cookie", ["Sources/Requests/Caching/A.swift:7: Caching uses cookie, which Cookies declares"]),
        ("Queue", "send()", []), ("Queue", "cookie", []), ("Message", "print", []),
        ("Elsewhere", "print", ["Sources/Requests/Elsewhere/A.swift is in no layer"]),
    ])
    func detectsUpwardDependency(folder: String, name: String, violations: [String]) {
        func file(_ path: String, _ names: String..., isDefinition: Bool = true) -> IndexedFile {
            IndexedFile(
                path: "Sources/Requests/\(path).swift",
                occurrences: names.map { .init(usr: "s:\($0)", name: $0, line: 7, isDefinition: isDefinition) }
            )
        }
        let files = [
            file("Queue/Client", "Client"), file("Queue/Client+Sending", "send()"), file("Cookies/Cookie", "cookie"),
            file("\(folder)/A", name, isDefinition: false),
        ]
        #expect(Layering(files).violations == violations)
    }
}

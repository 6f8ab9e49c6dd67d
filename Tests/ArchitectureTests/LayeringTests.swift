// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Testing

/// The rule that code uses only layers below it, as if every folder were a module.
///
/// Modules would enforce it better. But users would need an import for each, and the optimiser couldn't see across
/// them.
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
        ["Requests"],
        ["Queue"],
        ["WebSockets"],
    ]

    /// A mention of a type that another folder declares.
    private struct Mention {
        let file: SourceFile
        let index: Int
        let folder: String
        let type: String
        let owner: String

        var isUpward: Bool { Layering.level(of: owner) >= Layering.level(of: folder) }
    }

    private let homeless: [String]
    private let mentions: [Mention]

    init(_ files: [SourceFile]) {
        let placed = files.compactMap { file in Self.folder(of: file).map { (file: file, folder: $0) } }
        homeless = files.filter { Self.folder(of: $0) == nil }.map(\.path)
        let owners = Self.owners(of: placed)
        mentions = placed.flatMap { file, folder in
            file.code.indices.flatMap { index in
                SourceFile.names(in: file.code[index]).compactMap { name in
                    owners[String(name)].flatMap { owner in
                        owner == folder
                            ? nil
                            : Mention(file: file, index: index, folder: folder, type: String(name), owner: owner)
                    }
                }
            }
        }
    }

    /// Every mention of a type of a higher layer or of a peer, and every file that is in no layer.
    var violations: [String] {
        homeless.map { "\($0) is in no layer" }
            + mentions.filter(\.isUpward).map {
                $0.file.finding(at: $0.index, "\($0.folder) mentions \($0.type), which \($0.owner) declares")
            }
    }

    /// The dependencies between the folders as a Mermaid flowchart: an arrow points to a folder whose types are used.
    ///
    /// An arrow is omitted if others already lead the same way.
    var flowchart: String {
        let arrows = Dictionary(
            mentions.filter { !$0.isUpward }.map { ($0.folder, Set([$0.owner])) },
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

    private static func folder(of file: SourceFile) -> String? {
        let folders = file.path.split(separator: "/").map(String.init)
        return folders.count > 3 ? folders.dropFirst(2).first { layers.joined().contains($0) } : nil
    }

    /// The folder that declares each type that is declared at the top level of a file.
    ///
    /// A name that several folders declare, at any level, says nothing about either.
    private static func owners(of files: [(file: SourceFile, folder: String)]) -> [String: String] {
        var folders: [String: Set<String>] = [:]
        var owners: [String: String] = [:]
        for (file, folder) in files {
            for line in file.code {
                let names = SourceFile.declarations(in: line)
                for name in names { folders[name, default: []].insert(folder) }
                if line.first != " ", let name = names.first { owners[name] = folder }
            }
        }
        return owners.filter { folders[$0.key]?.count == 1 }
    }
}

@Suite struct LayeringTests {
    private static let house = Layering(SourceFile.all(below: "Sources/Requests"))

    @Test func codeMentionsOnlyTypesOfItsOwnLayerAndBelow() {
        #expect(Self.house.violations == [])
    }

    @Test func articleDrawsTheArrowsThatAreThere() {
        let article = SourceFile.text(of: "Sources/Requests/Requests.docc/Articles/Architecture.md")
        #expect(
            article.contains("```mermaid\n\(Self.house.flowchart)\n```"),
            "the article has to show:\n\(Self.house.flowchart)"
        )
    }

    @Test(arguments: [
        ("Message", "let a: Client", 1), ("Queue", "let a: Client", 0), ("Message", "// Client", 0),
        ("Message", #"let a = "Client""#, 0), ("Message", "let a = b.Client", 0), ("Elsewhere", "", 1),
    ])
    func mentionFromBelowIsFound(folder: String, code: String, count: Int) {
        let files = [
            SourceFile(path: "Sources/Requests/Queue/Client.swift", text: "public struct Client {}"),
            SourceFile(path: "Sources/Requests/\(folder)/A.swift", text: code),
        ]
        #expect(Layering(files).violations.count == count)
    }
}

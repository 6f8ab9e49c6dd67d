// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The files of this repository, found from the path of this one.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The test targets; each has a folder of the same name in `Tests`.
    static let testTargets = [
        "ArchitectureTests", "DocumentationTests", "IntegrationTests", "RequestsTestingTests", "RequestsTests",
    ]

    /// Every Swift file in `Sources`, read and parsed once for all tests.
    static let sources = swiftFiles(below: "Sources")

    /// Every Swift file of the test targets, read and parsed once for all tests.
    static let tests = testTargets.flatMap { swiftFiles(below: "Tests/\($0)") }

    private static func swiftFiles(below folder: String) -> [SourceFile] {
        paths(below: folder)
            .filter { $0.hasSuffix(".swift") }
            .map { SourceFile(path: $0, text: text(of: $0) ?? "") }
    }

    /// The text of a file, or `nil` if it can't be read.
    static func text(of path: String) -> String? {
        try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The path of every file below a folder, relative to the root; hidden files and folders, such as `.build`, are left out.
    static func paths(below folder: String) -> [String] {
        let contents = FileManager.default.enumerator(
            at: root.appendingPathComponent(folder),
            includingPropertiesForKeys: [.isDirectoryKey],
            options: .skipsHiddenFiles
        )
        let prefix = root.standardizedFileURL.path + "/"
        return (contents?.allObjects as? [URL] ?? [])
            .filter { !$0.hasDirectoryPath }
            .map { String($0.standardizedFileURL.path.dropFirst(prefix.count)) }
            .sorted()
    }

    /// The entries of the root, except for hidden ones.
    ///
    /// Only files tracked by git count, if git is available, since a build leaves other files behind.
    static func rootEntries() -> [String] {
        let names = trackedPaths()?.map { String($0.prefix { $0 != "/" }) }
        let all = names ?? (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return Set(all).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The paths that git tracks, or `nil` without git or a clone.
    private static func trackedPaths() -> [String]? {
        #if os(Linux) || os(macOS)
        let git = Process()
        let output = Pipe()
        git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        git.arguments = ["git", "-C", root.path, "ls-files", "-z"]
        git.standardOutput = output
        git.standardError = FileHandle.nullDevice
        guard (try? git.run()) != nil else { return nil }
        let paths = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        guard git.terminationStatus == 0, !paths.isEmpty else { return nil }
        return String(decoding: paths, as: UTF8.self).split(separator: "\0").map(String.init)
        #else
        return nil
        #endif
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A folder of one test, which is removed with this object.
package final class TemporaryFolder: Sendable {
    package let url: URL

    /// Makes the folder, or only a name for one that the test makes itself.
    package init(isMade: Bool = true) {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
        guard isMade else { return }
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Returns the names of all files, including hidden ones.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    /// The files in it and in its folders, in alphabetical order.
    package var files: [URL] { Self.files(in: url) }

    /// Returns all that is in a folder and in its folders, except those themselves, in alphabetical order.
    package static func files(in url: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.sorted().flatMap { name in
            let file = url.appendingPathComponent(name, isDirectory: false)
            let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
            return type == .typeDirectory ? files(in: file) : [file]
        }
    }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name, isDirectory: false) }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A folder of one test, which goes with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// All that is in it, the hidden included.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name, isDirectory: false) }
}

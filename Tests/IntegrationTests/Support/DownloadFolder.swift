// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

/// A folder for the downloads of one test, which goes with it.
final class DownloadFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("Downloads.\(UUID())", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// All that is in it, the hidden included.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    func file(_ name: String) -> DownloadDestination { .file(url.appendingPathComponent(name)) }

    /// The token of a download that broke after some bytes.
    func brokenDownload(of url: URL) async throws -> ResumeToken {
        let request = OverLoopback.DownloadTests.Fetch(url: url, destination: file("first"))
        let operation = OperationQueue().addRequest(request)
        _ = try? await operation.value()
        return try #require(operation.resumeToken)
    }
}

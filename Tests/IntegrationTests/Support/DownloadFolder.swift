// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

/// A folder for the downloads of one test, which is removed with this object.
final class DownloadFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("Downloads.\(UUID())", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Returns the names of all files, including hidden ones.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    func file(_ name: String) -> Download.Destination { .file(url.appendingPathComponent(name)) }

    /// Returns the token of a download that was interrupted after some bytes.
    func brokenDownload(of url: URL) async throws -> Download.ResumeToken {
        let request = OverLoopback.DownloadTests.Fetch(url: url, destination: file("first"))
        let operation = OperationQueue().addRequest(request)
        _ = try? await operation.value()
        return try #require(operation.resumeToken)
    }
}

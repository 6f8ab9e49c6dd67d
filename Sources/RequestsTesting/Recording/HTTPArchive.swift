// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Recorded exchanges as HAR 1.2, a file format that people, browsers and version control can read.
///
/// An archive is written by an ``ExchangeRecorder``, a browser (“Save all as HAR”) or a proxy. To replay it, use
/// ``HTTPStubber/replay(_:matchingBodies:ignoring:file:line:)`` or an ``ArchiveTransport``.
///
/// ```swift
/// try recorder.archive.write(to: file)
/// stubber.replay(try HTTPArchive(contentsOf: file))
/// ```
///
/// ### Secrets
///
/// By default, an archive is written without the values whose names mark them as secrets, by the same rule as in logs:
/// values of header fields, query parameters, and members of content. They are replaced with `REDACTED`, with 0, or, in a field, with `<redacted>`, which a replay takes into account. Content that contains the
/// name of a secret and can't be parsed is omitted.
///
/// Secrets with other names are written unchanged. So check a file before you share it, or change ``exchanges`` before
/// you write it.
public struct HTTPArchive: Sendable {
    /// The exchanges, in order.
    public var exchanges: [Exchange]

    /// Creates an archive of exchanges, which keep their order.
    public init(_ exchanges: [Exchange] = []) {
        self.exchanges = exchanges
    }

    /// Reads an archive.
    ///
    /// The method and URL of requests and the status of responses are required. Anything else that is missing counts as
    /// unknown, and nonstandard members are ignored. An entry with the status 0, which browsers write, has no response.
    ///
    /// - Throws: ``HTTPArchive/Error``, which names the entry and the field. Omitted content isn't an error here, but
    ///   the request that would replay it fails.
    /// - Complexity: O(n).
    public init(data: Data) throws(HTTPArchive.Error) {
        // Programs on Windows may write a byte order mark.
        let data = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        let root: JSONValue
        do {
            root = try JSONDecoder().decode(JSONValue.self, from: Data(data))
        } catch {
            throw HTTPArchive.Error("the file isn't JSON")
        }
        try self.init(json: root)
    }

    /// Reads an archive from a file.
    ///
    /// - Throws: ``HTTPArchive/Error``, or the error of reading the file.
    public init(contentsOf file: URL) throws {
        try self.init(data: try Data(contentsOf: file))
    }

    init(json root: JSONValue) throws(HTTPArchive.Error) {
        guard case .array(let entries)? = root["log"]?["entries"] else {
            throw HTTPArchive.Error("log.entries \(root["log"] == nil ? "is missing" : "isn't an array")")
        }
        exchanges = []
        exchanges.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            exchanges.append(try ArchiveReader(entry, index: index).exchange())
        }
    }

    /// Returns the archive as JSON in UTF-8, with one member per line, in a deterministic order.
    ///
    /// - Parameter revealsSecrets: Whether secrets such as credentials and cookies are written; false by default.
    /// - Returns: The contents of a file.
    /// - Complexity: O(n log n).
    public func data(revealingSecrets revealsSecrets: Bool = false) -> Data {
        ArchiveEntry.archive(exchanges.map(\.archiveEntry), redacts: !revealsSecrets).indented
    }

    /// Writes the archive to a file atomically: an existing file stays unchanged until the new file is complete.
    ///
    /// - Parameters:
    ///   - file: The URL of the file, whose directory must exist.
    ///   - revealsSecrets: Whether secrets such as credentials and cookies are written; false by default.
    /// - Throws: The error of writing the file.
    public func write(to file: URL, revealingSecrets revealsSecrets: Bool = false) throws {
        try data(revealingSecrets: revealsSecrets).write(to: file, options: .atomic)
    }
}

extension Exchange {
    fileprivate var archiveEntry: ArchiveEntry {
        var entry = ArchiveEntry(
            started: metrics.start,
            method: request.method,
            url: request.url.absoluteString,
            headers: request.headers,
            metrics: metrics
        )
        entry.requestBody = request.body
        entry.requestBodySize = requestBodySize
        entry.response = response.map { HTTPResponseHead(status: $0.status, headers: $0.headers) }
        entry.responseBody = response?.body
        entry.responseBodySize = response?.bodySize
        entry.error = error?.code
        return entry
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

/// Whenever a download is cancelled, its token is for the bytes in the file.
@Suite(.bounded, .tags(.race)) struct PartialDownloadRaceTests {
    private struct Film: DownloadRequest {
        typealias Success = DownloadedFile
        typealias Failure = RequestError

        let destination: DownloadDestination
        var resumeToken: ResumeToken?
        var resumesAutomatically = false
        var identifier: String { "film" }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A version's head, and its bytes, each of which identifies the version.
    private static func head(_ version: UInt8) -> HTTPResponseHead {
        HTTPResponseHead(status: .ok, headers: [.eTag: "\"\(version)\"", .contentLength: "1000"])
    }

    private static func bytes(_ version: UInt8) -> Data { Data(repeating: version, count: 500) }

    private func begin(_ film: Film, _ version: UInt8) throws -> PartialDownload {
        let download = PartialDownload(film, .resumable, url: home, now: { Date() })
        _ = download.fields(besides: [])
        try Self.receive(version, in: download)
        return download
    }

    private static func receive(_ version: UInt8, in download: PartialDownload) throws {
        try download.begin(head(version), flow: FlowControl([]), limit: .max)?.receive(bytes(version))
    }

    @Test(arguments: [false, true])
    func aTokenAgainstAnotherVersion(resumesAutomatically: Bool) throws {
        let target = folder.file("film")
        for round in 0..<Scale.races {
            let film = Film(destination: .file(target), resumesAutomatically: resumesAutomatically)
            let given = try #require(try begin(film, 1).token)
            let download = PartialDownload(
                Film(destination: .file(target), resumeToken: given, resumesAutomatically: resumesAutomatically),
                .resumable,
                url: home,
                now: { Date() }
            )
            #expect(!download.fields(besides: []).filter { $0.name == .range }.isEmpty)
            let token = Locked<ResumeToken?>(nil)

            simultaneously(
                { try? Self.receive(2, in: download) },
                and: {
                    let taken = download.token
                    token.withLock { $0 = taken }
                }
            )

            let taken = try #require(token.withLock { $0 }, "round \(round)")
            let version: UInt8 = taken.manifest.validator == .tag("1") ? 1 : 2
            let content = try Data(contentsOf: taken.file())
            #expect(content.allSatisfy { $0 == version } && content.count == taken.receivedLength, "round \(round)")
            #expect(version == 2 || content.count == 500)
            // The token is the caller's, and so is its file.
            download.abandon()
            #expect(FileManager.default.fileExists(atPath: taken.file().path))
            taken.discard()
            ResumeToken.removeStored(for: target)
        }
        #expect(try folder.names().isEmpty)
    }
}

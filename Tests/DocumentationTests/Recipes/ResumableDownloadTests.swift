// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Recipe: a library of films that are downloaded over a bad network, resumed in a new process, and checked.
@Suite(.bounded) final class ResumableDownloadTests {
    /// The type that an application would have, one for each run of it.
    struct Library: Sendable {
        let client: HTTPClient
        let folder: URL

        init(api: URL, folder: URL) {
            client = HTTPClient(baseURL: api) { $0.retry = RetryPolicy(limit: 3, backoff: .none) }
            self.folder = folder
        }

        func film(_ id: Int, sha256: String) -> Download {
            Get<Data>("films", "\(id)")
                .download(to: .file(folder.appending(path: "\(id).mov")))
                .resumingAutomatically()
                .expecting(sha256: sha256)
        }
    }

    private static let film = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
    // Of the film, by foreign hands.
    private static let digest = "854b7aa3c60fb4cd0909107676f51e21d75719a40bedd981c27e3d8b0dcecde7"

    private let folder = FileManager.default.temporaryDirectory.appending(path: "Films.\(UUID())")

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns a server that supports ranges, and disconnects at these positions of the film.
    private func server(hangingUpAt cuts: [Int]) throws -> MockServer {
        try MockServer { request in
            var (start, status) = (0, HTTPStatus.ok)
            var headers: HTTPHeaders = [.eTag: "\"v1\""]
            if let range = request.headers[.range], request.headers[.ifRange] == "\"v1\"" {
                start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                status = .partialContent
                headers[.contentRange] = "bytes \(start)-\(Self.film.count - 1)/\(Self.film.count)"
            }
            let response = StubResponse.status(status, headers: headers, body: Self.film[start...])
            return cuts.first { $0 > start + 1_000 }.map { response.truncated(after: $0 - start) } ?? response
        }
    }

    @Test func filmIsTransferredOnceDespiteInterruptions() async throws {
        let server = try server(hangingUpAt: [100_000, 300_000, 350_000])
        let library = Library(api: server.url, folder: folder)

        let file = try await library.client.fetch(library.film(7, sha256: Self.digest))

        #expect(try Data(contentsOf: file) == Self.film)
        #expect(server.requests.map { $0.headers[.range] != nil } == [false, true, true, true])
    }

    @Test func nextLaunchResumesDownload() async throws {
        let server = try server(hangingUpAt: [100_000, 200_000, 300_000, 400_000])
        var library = Library(api: server.url, folder: folder)
        await #expect { try await library.client.fetch(library.film(7, sha256: Self.digest)) } throws: { error in
            (error as? RequestError)?.code == .connectionLost
        }
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "7.mov").path))

        library = Library(api: server.url, folder: folder)
        let download = library.client.addRequest(library.film(7, sha256: Self.digest))
        var first: TransferProgress?
        for await progress in download.progressUpdates() { first = first ?? progress }

        #expect(try await Data(contentsOf: download.value()) == Self.film)
        #expect((first?.completed ?? 0) > 399_000)
        #expect(server.requests.count == 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["7.mov"])
    }

    @Test func changedFilmIsNotKept() async throws {
        let server = try server(hangingUpAt: [])
        let library = Library(api: server.url, folder: folder)
        let other = String(repeating: "0", count: 64)

        await #expect { try await library.client.fetch(library.film(7, sha256: other)) } throws: { error in
            (error as? RequestError)?.code == .digestMismatch
        }

        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}

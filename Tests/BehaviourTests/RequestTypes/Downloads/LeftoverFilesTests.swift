// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The hidden files next to the destination of a download that resumes automatically.
@Suite(.bounded) struct LeftoverFilesTests {
    private static let content = Data(repeating: 7, count: 50_000)
    private let folder: TemporaryFolder

    init() throws {
        folder = TemporaryFolder()
    }

    /// The complete file, or its beginning if the connection breaks.
    private static func film(_ isBroken: Bool) -> InMemoryTransport {
        InMemoryTransport { request in
            let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentLength: "\(content.count)"]
            guard isBroken else { return .status(.ok, headers: headers, body: content) }
            return .status(.ok, headers: headers, body: content).reset(after: 20_000)
        }
    }

    /// Leaves a partial file and its token, like a process that has ended.
    private func interrupt(overwriting overwrite: Bool = false) async {
        await run(Self.film(true), overwriting: overwrite)
    }

    /// Runs a download, and returns the code of its error, once its operation is deallocated.
    @discardableResult
    private func run(_ transport: InMemoryTransport, overwriting overwrite: Bool = false) async -> RequestError.Code? {
        let census = Census()
        let code = await { () -> RequestError.Code? in
            let life = census.life()
            let request = Download(
                HTTPRequest(url: server.appending(path: "film")),
                to: .file(folder.file("film"), overwrite: overwrite)
            )
            .resumingAutomatically()
            let client = HTTPClient(transport: transport) { $0.now = { withExtendedLifetime(life) { Date() } } }
            let operation = client.addRequest(request)
            await operation.end()
            return operation.result?.error?.code
        }()
        // The operation holds its environment, and removes its files when it is deallocated.
        await census.extinction()
        return code
    }

    private func hidden(_ suffix: String) throws -> [String] {
        try folder.names().filter { $0.hasSuffix(suffix) }
    }

    @Test func damagedTokenRemovesPartialFile() async throws {
        await interrupt()
        try #require(try hidden(".partial").count == 1 && hidden(".resume").count == 1)
        try Data("damaged".utf8).write(to: folder.file(hidden(".resume")[0]))

        #expect(await run(Self.film(false)) == nil)

        #expect(try folder.names() == ["film"])
    }

    @Test func damagedTokenKeepsUnrelatedPartialFiles() async throws {
        await interrupt()
        let names = [".film.\(UUID()).partial", ".film2.\(UUID()).partial", ".film.part", ".film.x.\(UUID()).partial"]
        for name in names { try Data("x".utf8).write(to: folder.file(name)) }
        try Data("damaged".utf8).write(to: folder.file(hidden(".resume")[0]))

        #expect(await run(Self.film(false)) == nil)

        #expect(try folder.names() == (names.dropFirst() + ["film"]).sorted())
    }

    @Test func leftoversAreRemovedWhenDestinationExists() async throws {
        await interrupt()
        try Data("other".utf8).write(to: folder.file("film"))

        #expect(await run(Self.film(false)) == .fileExists)

        #expect(try folder.names() == ["film"])
    }

    @Test func orphanedTokenIsRemovedWhenDestinationExists() async throws {
        await interrupt()
        try FileManager.default.removeItem(at: folder.file(hidden(".partial")[0]))
        try Data("other".utf8).write(to: folder.file("film"))

        #expect(await run(Self.film(false)) == .fileExists)

        #expect(try folder.names() == ["film"])
    }

    @Test func interruptedReplacementKeepsPartialFile() async throws {
        try Data("other".utf8).write(to: folder.file("film"))

        await interrupt(overwriting: true)

        #expect(try hidden(".partial").count == 1 && hidden(".resume").count == 1)
    }

    /// The second download has begun before the first stored its token, and stores its own.
    @Test func supersededDownloadRemovesPartialFile() async throws {
        let gate = Gate()
        let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentLength: "\(Self.content.count)"]
        let body = Self.content
        let transport = InMemoryTransport { _ in .status(.ok, headers: headers, body: body).held(by: gate) }
        let client = HTTPClient(transport: transport)
        let download = Download(HTTPRequest(url: server), to: .file(folder.file("film"))).resumingAutomatically()
        let second = client.addRequest(download)
        try await eventually { transport.requests.count == 1 }

        await interrupt()
        gate.open()
        await second.end()

        #expect(second.result?.error == nil)
        #expect(try folder.names() == ["film"])
    }

    /// Each download stores its own token for the same destination.
    @Test func concurrentDownloadsLeaveOnePartialFile() async throws {
        let gate = Gate()
        let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentLength: "\(Self.content.count)"]
        let body = Self.content
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: headers, body: body).held(by: gate, after: 10_000).reset(after: 20_000)
        }
        let census = Census()
        await { () async in
            let life = census.life()
            let client = HTTPClient(transport: transport) { $0.now = { withExtendedLifetime(life) { Date() } } }
            let download = Download(HTTPRequest(url: server), to: .file(folder.file("film"))).resumingAutomatically()
            let operations = (1...4).map { _ in client.addRequest(download) }
            try? await eventually { transport.requests.count == 4 }
            gate.open()
            for operation in operations { await operation.end() }
        }()
        await census.extinction()

        #expect(try hidden(".partial").count == 1 && hidden(".resume").count == 1)
        #expect(await run(Self.film(false)) == nil)
        #expect(try folder.names() == ["film"])
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The folder of the one test that downloads with a request type.
private let movies = FileManager.default.temporaryDirectory.appending(path: "Movies.\(UUID())")

@Suite(.bounded) final class DownloadingAndUploadingTests {
    struct Film: DownloadRequest {
        typealias Success = Download.File
        let id: Int
        var identifier: String { "\(id)" }
        var destination: Download.Destination { .file(movies.appending(path: "\(id).mov"), overwrite: true) }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api.appending(path: "films/\(id)"))))
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "Articles.\(UUID())")
    private let client = HTTPClient(baseURL: api)

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func downloadsToFile() async throws {
        let movies = folder

        let id = 7
        let film = Download("films/\(id)", to: .directory(movies))
        let file = try await client.fetch(film)

        #expect(file.lastPathComponent == "7")
        #expect(try Data(contentsOf: file) == Kitchen.film)
    }

    @Test func downloadTypeDefinesItsValue() async throws {
        defer { try? FileManager.default.removeItem(at: movies) }
        let film = try await client.fetch(Film(id: 7))

        #expect(film.length == Int64(Kitchen.film.count))
        #expect(film.url.lastPathComponent == "7.mov")
    }

    @Test func cancelledDownloadIsResumed() async throws {
        let film = Get<Data>("films", "7").download(to: .file(folder.appending(path: "film")))

        let operation = client.addRequest(film)
        let token = await withCheckedContinuation { continuation in
            operation.cancel { continuation.resume(returning: $0) }
        }
        let rest = client.addRequest(film.resuming(from: token))

        #expect(try await Data(contentsOf: rest.value()) == Kitchen.film)
    }

    @Test func storedTokenResumesTheDownload() async throws {
        let server = try MockServer()
        server.route(.get, "/films/7") { request in
            guard request.headers[.range] != nil else {
                return .data(Kitchen.film, headers: [.eTag: "\"1\""]).truncated(after: 150_000)
            }
            let range: HTTPHeaders = [.eTag: "\"1\"", .contentRange: "bytes 150000-199999/200000"]
            return .data(Kitchen.film.suffix(50_000), status: .partialContent, headers: range)
        }
        let client = HTTPClient(baseURL: server.url)
        let film = Download("films/7", to: .file(folder.appending(path: "film")))
        let tokenFile = folder.appending(path: "token")
        try await interrupt(film, client, tokenFile)

        let token = try Download.ResumeToken(data: Data(contentsOf: tokenFile))
        let file = try await client.fetch(film.resuming(from: token))

        #expect(try Data(contentsOf: file) == Kitchen.film)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=150000-"])
    }

    private func interrupt(_ film: Download, _ client: HTTPClient, _ tokenFile: URL) async throws {
        let operation = client.addRequest(film)
        await #expect(throws: RequestError.self) { try await operation.value() }

        try operation.resumeToken?.data.write(to: tokenFile)
    }

    @Test func progressIsReported() async throws {
        let film = Get<Data>("films", "7").download(to: .file(folder.appending(path: "film")))
        var lines: [String] = []
        func print(_ progress: TransferProgress) { lines.append("\(progress)") }

        let operation = client.addRequest(film)
        for await progress in operation.progressUpdates() { print(progress) }

        #expect(lines.last == "\(Kitchen.film.count) of \(Kitchen.film.count) bytes")
    }

    @Test func progressOfAClientIsReported() async throws {
        let client = client
        let watching = Task {
            var lines: [String] = []
            func print(_ line: String) {
                lines.append(line)
                if lines.count == 1 { client.addRequest(Get<Data>("films", "7")) }
                if line.hasPrefix("1 of 1") { withUnsafeCurrentTask { $0?.cancel() } }
            }

            for await progress in client.progressUpdates() {
                print("\(progress.finished) of \(progress.count) requests, \(progress.received) bytes")
            }
            return lines
        }

        #expect(await watching.value.last?.hasPrefix("1 of 1 requests, ") == true)
    }

    @Test func filesAreUploaded() async throws {
        let document = folder.appending(path: "document.pdf")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Kitchen.film.write(to: document)

        let report = Put<Void>("reports", "7").body(.file(document))
        let photos = Post<Void>("photos").body(
            .multipart { form in
                form.add("summer", for: "album")
                form.add(.file(document), for: "photo")
            }
        )

        try await client.fetch(report)
        try await client.fetch(photos)
    }

    @Test func linesAreReadIncrementally() async throws {
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        let log = try await client.stream(Get<Data>("log"))
        for try await line in log.lines { print(line) }

        #expect(lines == ["open", "closed"])
    }

    @Test func linesAreReadWithTypedThrows() async throws {
        func read(_ print: (String) -> Void) async throws(RequestError) {
            let log = try await client.stream(Get<Data>("log"))
            var lines = log.lines.makeAsyncIterator()
            while let line = try await lines.next() { print(line) }
        }
        var lines: [String] = []
        try await read { lines.append($0) }

        #expect(lines == ["open", "closed"])
    }

    @Test func invalidLinesAreSkipped() async throws {
        struct Entry: Decodable {
            let text: String
        }
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }
        let log = ResponseStream([Data("{\"text\": \"open\"}\noops\n{\"text\": \"closed\"}\n".utf8)])

        for try await result in log.jsonLines(Entry.self).results {
            switch result {
            case .success(let entry): print(entry.text)
            case .failure(let error): print("skipped: \(error.code)")
            }
        }

        #expect(lines == ["open", "skipped: decoding", "closed"])
    }

    @Test func eventStreamContinuesUntilCallerStops() async throws {
        let events = client.serverSentEvents(Get<Data>("feed"), reconnection: ServerSentEvent.Reconnection(limit: nil))

        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next()?.data == "more")
    }

    @Test func eventsContinueAcrossConnections() async throws {
        var lines: [String] = []
        func print(_ id: String, _ data: String) { lines.append("\(id) \(data)") }

        for try await event in client.serverSentEvents(Get<Data>("feed")) {
            print(event.id ?? "-", event.data)
            if event.data == "enough" { break }
        }

        #expect(lines == ["1 more", "2 enough"])
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The examples of Alamofire's manual about files, streams, metrics and commands, with the same purpose and this
/// library's API.
@Suite(.bounded, .tags(.behaviour)) final class AlamofireTransfersTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "Alamofire.\(UUID())")
    private let client = HTTPClient(baseURL: api)

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Downloads

    @Test func contentGoesToATemporaryFile() async throws {
        let file = try await client.fetch(Get<Data>("films", "7").download())
        defer { try? FileManager.default.removeItem(at: file) }

        #expect(try Data(contentsOf: file) == Kitchen.film)
    }

    @Test func contentGoesWhereOneSaysAndReplacesWhatIsThere() async throws {
        let image = folder.appending(path: "images/image.png")

        for _ in 1...2 {
            let file = try await client.fetch(Get<Data>("films", "7").download(to: .file(image, overwrite: true)))
            #expect(file == image)
        }
    }

    @Test func contentGoesToAFolderUnderTheNameThatTheServerSuggests() async throws {
        let file = try await client.fetch(Get<Data>("films", "7").download(to: .directory(folder)))

        #expect(file.lastPathComponent == "7")
    }

    @Test func theDestinationIsChosenWhenTheHeadIsThere() async throws {
        let folder = folder
        let destination = DownloadDestination { name, head in
            folder.appending(path: "\(head.status.code)-\(name)")
        }

        #expect(try await client.fetch(Get<Data>("films", "7").download(to: destination)).lastPathComponent == "200-7")
    }

    @Test func aDownloadTellsHowFarItIs() async throws {
        let fractions = Locked<[Double]>([])
        let operation = client.makeOperation(for: Get<Data>("films", "7").download(to: .directory(folder)))
        operation.onProgress(on: DispatchQueue(label: "progress")) { progress in
            fractions.withLock { $0.append(progress.fraction ?? 0) }
        }

        client.addOperation(operation)
        _ = try await operation.value()

        #expect(operation.progress.fractionCompleted == 1)
    }

    @Test func aDownloadIsCancelledAndResumed() async throws {
        let film = Get<Data>("films", "7").download(to: .file(folder.appending(path: "film")))
        let operation = client.addRequest(film)
        let token = await withCheckedContinuation { continuation in
            operation.cancel { continuation.resume(returning: $0) }
        }

        let file = try await client.fetch(film.resuming(from: token))

        #expect(try Data(contentsOf: file) == Kitchen.film)
    }

    // MARK: Uploads

    @Test func dataAFileAndAStreamAreUploaded() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "report.txt")
        try Data("report".utf8).write(to: file)
        let stream = BodyStream(length: 6) { InputStream(data: Data("report".utf8)) }

        for body in [HTTPBody.data(Data("report".utf8)), .file(file), .stream(stream)] {
            #expect(try await client.send(Put<Void>("reports", "7").body(body)).status == .noContent)
        }
        let lengths = Kitchen.server?.requests.filter { $0.target == "/reports/7" && $0.body == Data("report".utf8) }
        #expect(lengths?.count ?? 0 >= 3)
    }

    @Test func aFormInPartsIsUploaded() async throws {
        let form = HTTPBody.multipart { form in
            form.add("one", for: "first")
            form.add(.data(Data("two".utf8), type: .png), for: "second", fileName: "two.png")
        }

        #expect(try await client.send(Post<Void>("photos").body(form)).status == .noContent)
    }

    @Test func anUploadTellsHowFarItIs() async throws {
        let operation = client.makeOperation(for: Put<Void>("reports", "7").body(.data(Kitchen.film)))
        let updates = operation.progressUpdates(.upload)

        client.addOperation(operation)
        var last: TransferProgress?
        for await progress in updates { last = progress }

        #expect(last?.completed == Int64(Kitchen.film.count))
    }

    // MARK: Streams

    @Test func piecesAreReadWhileTheyCome() async throws {
        let stream = try await client.stream(Get<Data>("films", "7"))
        var count = 0

        for try await piece in stream { count += piece.count }

        #expect(count == Kitchen.film.count)
    }

    @Test func linesAreReadWhileTheyCome() async throws {
        var lines: [String] = []

        for try await line in try await client.stream(Get<Data>("log")).lines { lines.append(line) }

        #expect(lines == ["open", "closed"])
    }

    @Test func valuesAreReadWhileTheyCome() async throws {
        let rows = InMemoryTransport { _ in .status(.ok, body: Data("{\"name\": \"Ada\"}\n{\"name\": \"Bob\"}\n".utf8))
        }
        var names: [String] = []

        let stream = try await client.stream(Get<Data>("authors"), session: rows)
        for try await author in stream.jsonLines(Author.self) { names.append(author.name) }

        #expect(names == ["Ada", "Bob"])
    }

    @Test func aStreamIsLeftByLeavingTheLoop() async throws {
        struct Enough: Error {}
        var count = 0

        for try await _ in try await client.stream(Get<Data>("log")).lines {
            count += 1
            break
        }
        await #expect(throws: Enough.self) {
            for try await _ in try await self.client.stream(Get<Data>("log")) { throw Enough() }
        }

        #expect(count == 1)
    }

    // MARK: Debugging

    @Test func aResponseHasItsMetrics() async throws {
        let response = try await client.send(Get<Data>("recipes", "1"))

        let metrics = try #require(response.metrics)
        #expect(metrics.duration != nil && metrics.text(width: 60).contains("wait"))
    }

    @Test func aRequestIsShownAsACommand() throws {
        let command = try Get<Data>("recipes", "1").headers([.accept(.json)]).cURL(baseURL: api)

        #expect(command.hasPrefix("curl") && command.contains("/recipes/1'"))
        #expect(command.contains("Accept: application/json"))
    }

    @Test func aResponseKnowsTheCommandOfItsRequest() async throws {
        let response = try await client.send(Get<Data>("recipes", "1"))

        #expect(try response.cURL()?.contains("User-Agent") == true)
    }
}

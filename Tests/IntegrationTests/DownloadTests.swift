// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Content is moved to its file as a whole or not at all, and fetched once, however often the connection breaks.
    @Suite(.bounded) struct DownloadTests {
        struct Fetch: DownloadRequest {
            typealias Success = Download.File
            typealias Failure = RequestError

            var url: URL
            var destination: Download.Destination
            var resumeToken: Download.ResumeToken?
            var resumesAutomatically = false
            var expectedSHA256: String?
            var options = RequestOptions()

            var identifier: String { url.absoluteString }
            func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                completion(.success(URLRequest(url: url)))
            }
        }

        /// A server of one file that supports ranges, and counts the bytes that it sends.
        final class FileServer: Sendable {
            let content: Data
            let cuts: @Sendable (Int) -> Int?
            private let count = Locked(0)

            init(_ content: Data, cuts: @escaping @Sendable (_ request: Int) -> Int? = { _ in nil }) {
                self.content = content
                self.cuts = cuts
            }

            func answer(_ request: ReceivedRequest) -> StubResponse {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                var (from, status) = (0, HTTPStatus.ok)
                var headers: HTTPHeaders = [.eTag: "\"v1\"", .acceptRanges: "bytes"]
                if let range = request.headers[.range], request.headers[.ifRange] == "\"v1\"",
                    let start = Int(range.dropFirst("bytes=".count).dropLast())
                {
                    guard start < content.count else {
                        headers[.contentRange] = "bytes */\(content.count)"
                        return .status(416, headers: headers)
                    }
                    (from, status) = (start, .partialContent)
                    headers[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)"
                }
                let response = StubResponse.status(status, headers: headers, body: content[from...])
                return cuts(number).map { response.truncated(after: $0) } ?? response
            }
        }

        static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

        private func folder() throws -> URL {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Downloads.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }

        private func names(in folder: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        }

        @Test(arguments: TransportUnderTest.all)
        func contentIsWrittenToDestinationOnly(_ transport: TransportUnderTest) async throws {
            let (folder, files) = (try folder(), FileServer(Self.content))
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { files.answer($0) }
            let request = Fetch(
                url: server.url("/film.bin"),
                destination: .file(folder.appendingPathComponent("deep/film.bin"))
            )

            let file = try await OperationQueue().fetch(request, session: transport.makeSession())

            #expect(try Data(contentsOf: file.url) == Self.content && file.length == 300_000)
            #expect(try names(in: folder.appendingPathComponent("deep")) == ["film.bin"])
        }

        @Test func existingFileIsReplacedOnlyIfAllowed() async throws {
            let (folder, files) = (try folder(), FileServer(Self.content))
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { files.answer($0) }
            let file = folder.appendingPathComponent("film.bin")
            try Data("mine".utf8).write(to: file)
            let queue = OperationQueue()

            let refused = queue.addRequest(Fetch(url: server.url("/"), destination: .file(file)))
            await #expect { try await refused.value() } throws: { ($0 as? RequestError)?.code == .fileExists }
            #expect(try Data(contentsOf: file) == Data("mine".utf8))

            _ = try await queue.fetch(Fetch(url: server.url("/"), destination: .file(file, overwrite: true)))
            #expect(try Data(contentsOf: file) == Self.content)
        }

        @Test func errorResponseLeavesNoFile() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { _ in .text("gone", status: .notFound) }
            let operation = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: .directory(folder))
            )

            await #expect { try await operation.value() } throws: { error in
                (error as? RequestError)?.body == Data("gone".utf8)
            }
            #expect(try names(in: folder).isEmpty)
        }

        @Test(arguments: TransportUnderTest.all)
        func retryResumesAtBreak(_ transport: TransportUnderTest) async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = FileServer(Self.content) { $0 <= 3 ? 40_000 * $0 : nil }
            let server = try MockServer { files.answer($0) }
            var request = Fetch(url: server.url("/"), destination: .file(folder.appendingPathComponent("film")))
            request.options.retry = RetryPolicy(limit: 5, backoff: .none)

            let operation = OperationQueue().addRequest(request, session: transport.makeSession())
            let file = try await operation.value()

            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(operation.transfers.count == 4)
            #expect(operation.transfers.dropFirst().allSatisfy { $0.response?.status == .partialContent })
            let fetched = server.requests.compactMap { $0.headers[.range] }
            #expect(fetched.count == 3 && Set(fetched).count == 3)
        }

        @Test func tokenResumesInAnotherOperation() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = FileServer(Self.content) { $0 == 1 ? 120_000 : nil }
            let server = try MockServer { files.answer($0) }
            let target = folder.appendingPathComponent("film")
            let broken = OperationQueue().addRequest(Fetch(url: server.url("/"), destination: .file(target)))
            _ = try? await broken.value()

            let token = try #require(broken.resumeToken)
            let stored = try Download.ResumeToken(data: token.data)
            let file = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: .file(target), resumeToken: stored)
            )

            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(file.response.status == .partialContent && stored.receivedLength > 100_000)
            #expect(try names(in: folder) == ["film"])
        }

        @Test func downloadToTheSameFileResumesAutomatically() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = FileServer(Self.content) { $0 == 1 ? 120_000 : nil }
            let server = try MockServer { files.answer($0) }
            let request = Fetch(
                url: server.url("/"),
                destination: .file(folder.appendingPathComponent("film")),
                resumesAutomatically: true
            )

            _ = try? await OperationQueue().fetch(request)
            #expect(try names(in: folder).count == 2)
            let file = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: file.url) == Self.content && file.response.status == .partialContent)
            #expect(try names(in: folder) == ["film"])
        }

        /// A queueing server that answers the request for the rest with "later" has sent no part of it.
        @Test(arguments: [HTTPStatus.accepted, .noContent])
        func successWithoutRemainderFails(_ status: HTTPStatus) async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = FileServer(Self.content, cuts: { $0 == 1 ? 100_000 : nil })
            let server = try MockServer { request in
                request.headers[.range] == nil ? files.answer(request) : .status(status)
            }
            var request = Fetch(url: server.url("/"), destination: .file(folder.appendingPathComponent("film")))
            request.options.retry = RetryPolicy(limit: 2, backoff: .none)

            let error = await #expect(throws: RequestError.self) { try await OperationQueue().fetch(request) }

            #expect(error?.code == .emptyResponse)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("film").path))
        }

        @Test func tokenResumesIfServerNamesFile() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = FileServer(Self.content, cuts: { $0 == 1 ? 100_000 : nil })
            let server = try MockServer { files.answer($0) }
            var request = Fetch(url: server.url("/film.bin"), destination: .directory(folder))
            let broken = OperationQueue().addRequest(request)
            _ = try? await broken.value()

            request.resumeToken = broken.resumeToken
            #expect(request.resumeToken != nil)
            let file = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: file.url) == Self.content)
            #expect(try names(in: folder) == ["film.bin"])
            #expect(server.requests.last?.headers[.range] != nil)
        }

        @Test func cancelWithoutTokenLeavesNoFile() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { _ in .data(Self.content).stalled(after: 100_000) }
            do {
                let operation = OperationQueue().addRequest(
                    Fetch(url: server.url("/"), destination: .directory(folder))
                )
                try await eventually { try !names(in: folder).isEmpty }
                operation.cancel()
                _ = try? await operation.value()
            }
            try await eventually { try names(in: folder).isEmpty }
        }

        @Test(arguments: [true, false]) func digestIsVerified(isRight: Bool) async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { _ in .text("abc") }
            let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a" + (isRight ? "d" : "e")
            let operation = OperationQueue().addRequest(
                Fetch(
                    url: server.url("/"),
                    destination: .file(folder.appendingPathComponent("abc")),
                    expectedSHA256: digest
                )
            )

            let file = try? await operation.value()
            #expect((file != nil) == isRight)
            #expect(isRight || operation.result?.failure?.code == .digestMismatch)
            #expect(try names(in: folder) == (isRight ? ["abc"] : []))
        }

        @Test func changedFileStartsOver() async throws {
            let folder = try folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { request in
                guard request.headers.contains(.range) else {
                    return .status(.ok, headers: [.eTag: "\"v1\""], body: Data(count: 100_000)).truncated(after: 50_000)
                }
                return .status(.ok, headers: [.eTag: "\"v2\""], body: Self.content)
            }
            var request = Fetch(url: server.url("/"), destination: .file(folder.appendingPathComponent("film")))
            request.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let file = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: file.url) == Self.content)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A partial file is resumed by one download at a time, and stays as long as there is a token for it.
    @Suite(.bounded) struct ResumeOwnershipTests {
        typealias Fetch = DownloadTests.Fetch
        typealias FileServer = DownloadTests.FileServer

        private static let content = DownloadTests.content
        private let folder: DownloadFolder

        init() throws {
            folder = try DownloadFolder()
        }

        @Test func secondDownloadOfSamePartialFileStartsOver() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.headers.contains(.range) ? response.stalled(after: 50_000) : response
            }
            let token = try await folder.brokenDownload(of: server.url("/"))
            let first = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: folder.file("a"), resumeToken: token)
            )
            try await eventually { first.response != nil || first.isFinished }

            let second = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: folder.file("b"), resumeToken: token)
            )
            first.cancel()

            #expect(try Data(contentsOf: second.url) == Self.content && second.response.status == .ok)
            #expect(server.requests.map { $0.headers.contains(.range) } == [false, true, false])
        }

        @Test func retainedFailedOperationDoesNotBlockOthers() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let request = Fetch(url: server.url("/"), destination: folder.file("film"), resumesAutomatically: true)
            let broken = OperationQueue().addRequest(request)
            _ = try? await broken.value()

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
            #expect(broken.result?.failure?.code == .connectionLost)
        }

        /// Even if the transfer is writing while it is cancelled.
        @Test func tokenIsImmediatelyResumable() async throws {
            let files = FileServer(Self.content)
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.headers.contains(.range) ? response : response.stalled(after: 290_000)
            }
            let rounds = Scale.pick(20, whole: 1000)
            for round in 0..<rounds {
                let operation = OperationQueue().addRequest(
                    Fetch(url: server.url("/"), destination: folder.file("\(round)"))
                )
                operation.onProgress { progress in
                    if progress.completed > 0 { operation.cancel() }
                }
                let token = await withCheckedContinuation { continuation in
                    operation.addCompletion(on: .global()) { _ in
                        operation.cancel { continuation.resume(returning: $0) }
                    }
                }
                guard let token else { continue }

                let whole = try await OperationQueue().fetch(
                    Fetch(url: server.url("/"), destination: folder.file("\(round)"), resumeToken: token)
                )

                #expect(try Data(contentsOf: whole.url) == Self.content)
                #expect(token.receivedLength == 0 || whole.response.status == .partialContent)
            }
            #expect(try folder.names().count <= rounds)
        }

        @Test func readingTokenLeavesNoFile() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }

            _ = try await folder.brokenDownload(of: server.url("/")).description

            try await eventually { try folder.names().isEmpty }
        }

        @Test func storedTokenAloneSufficesToResume() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let stored = try await folder.brokenDownload(of: server.url("/")).data

            let whole = try await OperationQueue().fetch(
                Fetch(
                    url: server.url("/"),
                    destination: folder.file("film"),
                    resumeToken: try Download.ResumeToken(data: stored)
                )
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }

        @Test func unstartedDownloadHasNoToken() async {
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(Fetch(url: URL(fileURLWithPath: "/"), destination: folder.file("film")))

            let token = await withCheckedContinuation { continuation in
                operation.cancel { continuation.resume(returning: $0) }
            }

            #expect(token == nil)
        }

        @Test func unusedTokenIsReturned() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let given = try await folder.brokenDownload(of: server.url("/"))
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(
                Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: given)
            )

            let token = await withCheckedContinuation { continuation in
                operation.cancel { continuation.resume(returning: $0) }
            }

            #expect(token == given)
        }

        /// A stored token may be used again, since no operation can provide another.
        @Test func partialFileSurvivesFailedDownload() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let isBusy = Locked(true)
            let server = try MockServer { request in
                request.headers.contains(.range) && isBusy.withLock { $0 } ? .status(.forbidden) : files.answer(request)
            }
            let token = try await folder.brokenDownload(of: server.url("/"))
            let request = Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: token)

            do {
                let failed = OperationQueue().addRequest(request)
                _ = try? await failed.value()
                // Reading it, as a log does, takes nothing away.
                #expect(failed.resumeToken?.receivedLength == token.receivedLength)
            }
            isBusy.withLock { $0 = false }
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }

        /// The bytes are those of the first version, even after the head of the second has arrived.
        @Test func tokenBetweenVersionsRefersToFirst() async throws {
            let server = try MockServer { request in
                guard request.headers[.ifRange] != "\"v1\"" else {
                    return .status(.ok, headers: [.eTag: "\"v2\""], body: Data(count: 200_000))
                }
                return .status(.ok, headers: [.eTag: "\"v1\""], body: Self.content).truncated(after: 100_000)
            }
            let given = try await folder.brokenDownload(of: server.url("/"))
            let (operation, tokens) = (Locked<DownloadOperation<Fetch>?>(nil), Locked<[Download.ResumeToken?]>([]))
            let (isAdded, isOver) = (Gate(), Gate())
            let place = folder.url.appendingPathComponent("film")
            let destination = Download.Destination { _, _ in
                try? isAdded.wait()
                operation.withLock { $0 }?.cancel { token in
                    tokens.withLock { $0.append(token) }
                    isOver.open()
                }
                try? isOver.wait()
                return place
            }
            let added = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: destination, resumeToken: given)
            )
            operation.withLock { $0 = added }
            isAdded.open()
            try await isOver.wait()

            #expect(tokens.withLock { $0 } == [given])
        }

        /// A server that was rolled back has the first version again, and would send the rest of it.
        @Test func oldVersionsTokenDoesNotResumeNewVersion() async throws {
            let version = Locked(1)
            let server = try MockServer { request in
                let (number, tag) = version.withLock { ($0, "\"v\($0)\"") }
                let content = number == 1 ? Self.content : Data(count: 200_000)
                guard request.headers[.ifRange] == tag, let range = request.headers[.range],
                    let start = Int(range.dropFirst("bytes=".count).dropLast())
                else {
                    let response = StubResponse.status(.ok, headers: [.eTag: tag], body: content)
                    return request.index < 2 ? response.truncated(after: 100_000) : response
                }
                let position = "bytes \(start)-\(content.count - 1)/\(content.count)"
                let headers: HTTPHeaders = [.eTag: tag, .contentRange: position]
                return .status(.partialContent, headers: headers, body: content[start...])
            }
            let request = Fetch(
                url: server.url("/"),
                destination: folder.file("film"),
                resumeToken: try await folder.brokenDownload(of: server.url("/"))
            )
            version.withLock { $0 = 2 }
            let second = OperationQueue().addRequest(request)
            _ = try? await second.value()
            version.withLock { $0 = 1 }

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content)
            #expect(second.result?.failure?.code == .connectionLost)
        }

        @Test func excessRangeContentFailsDownload() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                guard let start = request.headers[.range].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) })
                else {
                    return files.answer(request)
                }
                let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes \(start)-\(start + 99)/300000"]
                return .chunked([Data(count: 150)], status: .partialContent, headers: headers)
            }
            let token = try await folder.brokenDownload(of: server.url("/"))
            let operation = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: token)
            )
            _ = try? await operation.value()

            #expect(operation.result?.failure?.code == .badResponse)
            #expect(operation.resumeToken == nil)
            #expect(try folder.names() == [])
        }

        #if os(Linux)
        @Test func retainedFailedOperationClosesItsFile() async throws {
            let server = try MockServer { _ in .data(Self.content).truncated(after: 1000) }
            let operations = (0..<5).map { number in
                OperationQueue().addRequest(Fetch(url: server.url("/"), destination: folder.file("\(number)")))
            }
            for operation in operations { _ = try? await operation.value() }

            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }

            #expect(!open.contains { $0.hasPrefix(folder.url.path) })
            #expect(operations.allSatisfy { $0.result?.failure?.code == .connectionLost })
        }
        #endif

        @Test func automaticResumptionNormalizesPath() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let target = folder.url.appendingPathComponent("inner/../film")
            let request = Fetch(url: server.url("/"), destination: .file(target), resumesAutomatically: true)
            try FileManager.default.createDirectory(
                at: folder.url.appendingPathComponent("inner"),
                withIntermediateDirectories: true
            )

            _ = try? await OperationQueue().fetch(request)
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
            #expect(try folder.names() == ["film", "inner"])
        }

        @Test func supersededDownloadLeavesNoFile() async throws {
            let files = FileServer(Self.content)
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.index == 0 ? response.stalled(after: 100_000) : response
            }
            let request = Fetch(url: server.url("/"), destination: folder.file("film"), resumesAutomatically: true)
            do {
                let loser = OperationQueue().addRequest(request)
                try await eventually { try folder.names().count >= 2 }

                let whole = try await OperationQueue().fetch(request)
                loser.cancel()
                _ = try? await loser.value()

                #expect(try Data(contentsOf: whole.url) == Self.content)
            }
            try await eventually { try folder.names() == ["film"] }
        }

        @Test func fileResumedByTokensIsTransferredOnce() async throws {
            let files = FileServer(Self.content) { $0 <= 40 ? 3_000 + ($0 &* 7_919) % 5_000 : nil }
            let server = try MockServer { files.answer($0) }
            var (token, lengths) = (Download.ResumeToken?.none, [Int64]())
            for _ in 1...40 {
                let operation = OperationQueue().addRequest(
                    Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: token)
                )
                _ = try? await operation.value()
                token = try Download.ResumeToken(data: try #require(operation.resumeToken).data)
                lengths.append(token?.receivedLength ?? 0)
            }

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && folder.names() == ["film"])
            #expect(server.requests.dropFirst().map { $0.headers[.range] } == lengths.map { "bytes=\($0)-" })
        }
    }
}

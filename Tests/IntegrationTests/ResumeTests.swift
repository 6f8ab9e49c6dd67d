// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

extension OverLoopback {
    /// What is there of a file is gone on with by one at a time, and only where it is of the same file.
    @Suite final class ResumeTests {
        typealias Fetch = DownloadTests.Fetch
        typealias FileServer = DownloadTests.FileServer

        private static let content = DownloadTests.content
        private let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "Resume.\(UUID())",
                isDirectory: true
            )
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        private func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        }

        private func file(_ name: String) -> DownloadDestination { .file(folder.appendingPathComponent(name)) }

        /// The token of a download that broke after some bytes.
        private func brokenDownload(of url: URL) async throws -> ResumeToken {
            let operation = OperationQueue().addRequest(Fetch(url: url, destination: file("first")))
            _ = try? await operation.value()
            return try #require(operation.resumeToken)
        }

        // MARK: By whom

        @Test func ofTwoThatGoOnWithOneFileTheSecondStartsOver() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.headers.contains(.range) ? response.stalled(after: 50_000) : response
            }
            let token = try await brokenDownload(of: server.url("/"))
            let first = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: file("a"), resumeToken: token)
            )
            while first.response == nil { await Task.yield() }

            let second = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: file("b"), resumeToken: token)
            )
            first.cancel()

            #expect(try Data(contentsOf: second.url) == Self.content && second.response.status == .ok)
            #expect(server.requests.map { $0.headers.contains(.range) } == [false, true, false])
        }

        @Test func aFailedOperationThatIsKeptIsInNobodysWay() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let request = Fetch(url: server.url("/"), destination: file("film"), resumesAutomatically: true)
            let broken = OperationQueue().addRequest(request)
            _ = try? await broken.value()

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
            #expect(broken.result?.failure?.code == .connectionLost)
        }

        /// Though the transfer may be writing while it is cancelled.
        @Test func aTokenCanBeGoneOnWithTheMomentThatItIsThere() async throws {
            let files = FileServer(Self.content)
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.headers.contains(.range) ? response : response.stalled(after: 290_000)
            }
            for round in 0..<50 {
                let operation = OperationQueue().addRequest(
                    Fetch(url: server.url("/"), destination: file("\(round)"))
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
                    Fetch(url: server.url("/"), destination: file("\(round)"), resumeToken: token)
                )

                #expect(try Data(contentsOf: whole.url) == Self.content)
                #expect(token.receivedLength == 0 || whole.response.status == .partialContent)
            }
            #expect(try names().count <= 50)
        }

        @Test func aDownloadThatNeverStartsHasNoToken() async {
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(Fetch(url: URL(fileURLWithPath: "/"), destination: file("film")))

            let token = await withCheckedContinuation { continuation in
                operation.cancel { continuation.resume(returning: $0) }
            }

            #expect(token == nil)
        }

        @Test func aTokenThatIsNotUsedUpIsGivenBack() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let given = try await brokenDownload(of: server.url("/"))
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(
                Fetch(url: server.url("/"), destination: file("film"), resumeToken: given)
            )

            let token = await withCheckedContinuation { continuation in
                operation.cancel { continuation.resume(returning: $0) }
            }

            #expect(token == given)
        }

        /// Whoever stored it may try again, and has no operation to ask for another.
        @Test func theFileOfATokenOutlivesADownloadThatFails() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let isBusy = Locked(true)
            let server = try MockServer { request in
                request.headers.contains(.range) && isBusy.withLock { $0 } ? .status(.forbidden) : files.answer(request)
            }
            let token = try await brokenDownload(of: server.url("/"))
            let request = Fetch(url: server.url("/"), destination: file("film"), resumeToken: token)

            _ = try? await OperationQueue().fetch(request)
            isBusy.withLock { $0 = false }
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }

        /// The bytes that are there are of the first, also when the head of the second has come.
        @Test func aTokenOfAMomentBetweenTwoVersionsIsOfTheFirst() async throws {
            let server = try MockServer { request in
                guard request.headers[.ifRange] != "\"v1\"" else {
                    return .status(.ok, headers: [.eTag: "\"v2\""], body: Data(count: 200_000))
                }
                return .status(.ok, headers: [.eTag: "\"v1\""], body: Self.content).truncated(after: 100_000)
            }
            let given = try await brokenDownload(of: server.url("/"))
            let (operation, tokens) = (Locked<DownloadOperation<Fetch>?>(nil), Locked<[ResumeToken?]>([]))
            let (isAdded, isOver) = (Gate(), Gate())
            let place = folder.appendingPathComponent("film")
            let destination = DownloadDestination { _, _ in
                isAdded.wait()
                operation.withLock { $0 }?.cancel { token in
                    tokens.withLock { $0.append(token) }
                    isOver.open()
                }
                isOver.wait()
                return place
            }
            let added = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: destination, resumeToken: given)
            )
            operation.withLock { $0 = added }
            isAdded.open()
            await isOver.wait()

            #expect(tokens.withLock { $0 } == [given])
        }

        /// A server that was rolled back has the first version again, and would give the rest of it.
        @Test func aTokenOfAFormerVersionNamesNothingOfAnother() async throws {
            let version = Locked(1)
            let server = try MockServer { request in
                let (number, tag) = version.withLock { ($0, "\"v\($0)\"") }
                let content = number == 1 ? Self.content : Data(count: 200_000)
                guard request.headers[.ifRange] == tag, let range = request.headers[.range],
                    let start = Int(range.dropFirst("bytes=".count).dropLast())
                else {
                    let response = MockResponse.status(.ok, headers: [.eTag: tag], body: content)
                    return request.index < 2 ? response.truncated(after: 100_000) : response
                }
                let position = "bytes \(start)-\(content.count - 1)/\(content.count)"
                let headers: HTTPHeaders = [.eTag: tag, .contentRange: position]
                return .status(.partialContent, headers: headers, body: content[start...])
            }
            let request = Fetch(
                url: server.url("/"),
                destination: file("film"),
                resumeToken: try await brokenDownload(of: server.url("/"))
            )
            version.withLock { $0 = 2 }
            let second = OperationQueue().addRequest(request)
            _ = try? await second.value()
            version.withLock { $0 = 1 }

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content)
            #expect(second.result?.failure?.code == .connectionLost)
        }

        @Test func whatIsLongerThanItWasSaidToBeIsGoodForNothing() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                guard let start = request.headers[.range].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) })
                else {
                    return files.answer(request)
                }
                let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes \(start)-\(start + 99)/300000"]
                return .chunked([Data(count: 150)], status: .partialContent, headers: headers)
            }
            let token = try await brokenDownload(of: server.url("/"))
            let operation = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: file("film"), resumeToken: token)
            )
            _ = try? await operation.value()

            #expect(operation.result?.failure?.code == .badResponse)
            #expect(operation.resumeToken == nil)
            #expect(try names() == [])
        }

        #if os(Linux)
        @Test func aFailedOperationThatIsKeptHoldsNoFileOpen() async throws {
            let server = try MockServer { _ in .data(Self.content).truncated(after: 1000) }
            let operations = (0..<5).map { number in
                OperationQueue().addRequest(Fetch(url: server.url("/"), destination: file("\(number)")))
            }
            for operation in operations { _ = try? await operation.value() }

            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }

            #expect(!open.contains { $0.hasPrefix(folder.path) })
            #expect(operations.allSatisfy { $0.result?.failure?.code == .connectionLost })
        }
        #endif

        @Test func aDownloadThatGoesOnByItselfFindsItsFileHoweverTheWayIsWritten() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let target = folder.appendingPathComponent("inner/../film")
            let request = Fetch(url: server.url("/"), destination: .file(target), resumesAutomatically: true)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("inner"),
                withIntermediateDirectories: true
            )

            _ = try? await OperationQueue().fetch(request)
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
            #expect(try names() == ["film", "inner"])
        }

        @Test func ofTwoThatGoToOneFileByThemselvesTheLoserLeavesNothing() async throws {
            let files = FileServer(Self.content)
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.index == 0 ? response.stalled(after: 100_000) : response
            }
            let request = Fetch(url: server.url("/"), destination: file("film"), resumesAutomatically: true)
            do {
                let loser = OperationQueue().addRequest(request)
                while try names().count < 2 { await Task.yield() }

                let whole = try await OperationQueue().fetch(request)
                loser.cancel()
                _ = try? await loser.value()

                #expect(try Data(contentsOf: whole.url) == Self.content)
            }
            while try names() != ["film"] { await Task.yield() }
        }

        @Test func aFileThatIsCutAndGoneOnWithByTokenIsFetchedOnce() async throws {
            let files = FileServer(Self.content) { $0 <= 40 ? 3_000 + ($0 &* 7_919) % 5_000 : nil }
            let server = try MockServer { files.answer($0) }
            var (token, lengths) = (ResumeToken?.none, [Int64]())
            for _ in 1...40 {
                let operation = OperationQueue().addRequest(
                    Fetch(url: server.url("/"), destination: file("film"), resumeToken: token)
                )
                _ = try? await operation.value()
                token = try ResumeToken(data: try #require(operation.resumeToken).data)
                lengths.append(token?.receivedLength ?? 0)
            }

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: file("film"), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && names() == ["film"])
            #expect(server.requests.dropFirst().map { $0.headers[.range] } == lengths.map { "bytes=\($0)-" })
        }

        // MARK: Of what

        /// What a server says to the request for the rest, and how often it is asked then.
        enum Answer: String, CaseIterable, CustomTestStringConvertible {
            case otherPart, noPosition, severalParts, encoded, otherTag, otherLength, shrunk, notSatisfiable, wholeAgain
            case ownLength

            var testDescription: String { rawValue }

            /// Whether another request is needed.
            var asksAgain: Bool { self != .wholeAgain && self != .ownLength }

            func response(_ start: Int, _ content: Data) -> MockResponse {
                let end = content.count - 1
                var headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes \(start)-\(end)/\(end + 1)"]
                switch self {
                case .otherPart: headers[.contentRange] = "bytes \(start + 1)-\(end)/\(end + 1)"
                case .noPosition: headers[.contentRange] = nil
                case .severalParts: headers[.contentType] = "multipart/byteranges; boundary=a"
                case .encoded: headers[.contentEncoding] = "x-own"
                case .otherTag: headers[.eTag] = "\"v2\""
                case .otherLength: headers[.contentRange] = "bytes \(start)-\(end)/\(end + 2)"
                case .shrunk:
                    return .status(416, headers: [.contentRange: "bytes */1000"], body: Data("no such part".utf8))
                case .notSatisfiable: return .status(416, body: Data("no such part".utf8))
                case .wholeAgain: return .status(.ok, headers: [.eTag: "\"v2\""], body: content)
                case .ownLength: break
                }
                return .status(.partialContent, headers: headers, body: content[start...])
            }
        }

        @Test(arguments: Answer.allCases)
        func onlyTheRestOfTheSameFileIsPutBehindIt(_ answer: Answer) async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                guard let range = request.headers[.range] else { return files.answer(request) }
                return answer.response(Int(range.dropFirst("bytes=".count).dropLast()) ?? 0, Self.content)
            }
            let token = try await brokenDownload(of: server.url("/"))

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: file("film"), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && names() == ["film"])
            #expect(server.requests.count == (answer.asksAgain ? 3 : 2))
        }

        @Test func anAddressThatExpiredIsReplacedByANewOne() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                request.query == "key=1" && request.headers.contains(.range)
                    ? .status(.forbidden) : files.answer(request)
            }
            let token = try await brokenDownload(of: server.url("/signed?key=1"))
            var request = Fetch(url: server.url("/signed?key=1"), destination: file("film"), resumeToken: token)

            let expired = OperationQueue().addRequest(request)
            _ = try? await expired.value()
            #expect(expired.result?.failure?.code == .unacceptableStatus)
            request.url = server.url("/signed?key=2")
            request.resumeToken = expired.resumeToken
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }

        // MARK: What is asked for

        @Test func aRequestThatTakesOnly200CanGoOn() async throws {
            struct Strict: DownloadRequest {
                typealias Success = DownloadedFile
                typealias Failure = RequestError

                let base: Fetch
                var identifier: String { base.identifier }
                var destination: DownloadDestination { base.destination }
                var options: RequestOptions { base.options }
                var validHTTPStatusCodes: [Int] { [200] }
                func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                    base.makeURLRequest(completion: completion)
                }
            }
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            var base = Fetch(url: server.url("/"), destination: file("film"))
            base.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let whole = try await OperationQueue().fetch(Strict(base: base))

            #expect(try Data(contentsOf: whole.url) == Self.content && server.requests.count == 2)
        }

        /// Of the caller's own, or of a method whose answer has no parts.
        @Test(arguments: [(HTTPMethod.get, "bytes=1000-1999"), (.post, nil)] as [(HTTPMethod, String?)])
        func whatIsNotTheWholeOfAFileIsFetchedAsItIs(_ method: HTTPMethod, _ range: String?) async throws {
            struct Part: DownloadRequest {
                typealias Success = DownloadedFile
                typealias Failure = RequestError

                let http: HTTPRequest
                let destination: DownloadDestination
                var options = RequestOptions()
                var resumesAutomatically: Bool { true }
                var identifier: String { http.url.absoluteString }
                func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                    completion(.success(URLRequest(http)))
                }
            }
            let part = Data(Self.content[1000..<2000])
            let served = Locked(0)
            let server = try MockServer { request in
                let isFirst = served.withLock { count in
                    count += 1
                    return count == 1
                }
                let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes 1000-1999/300000"]
                let response = MockResponse.status(
                    range == nil ? .ok : .partialContent,
                    headers: range == nil ? [.eTag: "\"v1\""] : headers,
                    body: part
                )
                return isFirst ? response.truncated(after: 400) : response
            }
            let http = HTTPRequest(url: server.url("/"), method: method, headers: range.map { [.range: $0] } ?? [])
            var request = Part(http: http, destination: file("part"))
            request.options.retry = RetryPolicy(limit: 1, backoff: .none, methods: [.get, .post])

            let fetched = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: fetched.url) == part && names() == ["part"])
            #expect(server.requests.map { $0.headers[.range] } == [range, range])
        }

        /// Parts that a server makes of an answer are no failures.
        @Test func anAnswerInPartsUsesUpNoRetry() async throws {
            let content = Self.content
            let failed = Locked(false)
            let server = try MockServer { request in
                let start = Int(request.headers[.range]?.dropFirst("bytes=".count).dropLast() ?? "0") ?? 0
                guard start > 0 else {
                    return .status(.ok, headers: [.eTag: "\"v1\""], body: content).truncated(after: 30_000)
                }
                let end = min(start + 100_000, content.count)
                let headers: HTTPHeaders = [
                    .eTag: "\"v1\"", .contentRange: "bytes \(start)-\(end - 1)/\(content.count)",
                ]
                let response = MockResponse.status(.partialContent, headers: headers, body: content[start..<end])
                let fails =
                    end == content.count
                    && !failed.withLock { failed in
                        defer { failed = true }
                        return failed
                    }
                return fails ? response.truncated(after: 100) : response
            }
            var request = Fetch(url: server.url("/"), destination: file("film"))
            request.options.retry = RetryPolicy(limit: 2, backoff: .none)

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == content)
        }

        /// Nobody said how long the whole is, and a part is not the whole because it came to its end.
        @Test func aPartOfAnUnknownWholeIsNotTakenForIt() async throws {
            let content = Self.content
            let server = try MockServer { request in
                let start = Int(request.headers[.range]?.dropFirst("bytes=".count).dropLast() ?? "0") ?? 0
                let tag: HTTPHeaders = [.eTag: "\"v1\""]
                guard start > 0 else {
                    return .chunked([content[..<50_000], content[50_000...]], headers: tag).truncated(after: 60_000)
                }
                guard start < content.count else {
                    return .status(416, headers: [.contentRange: "bytes */\(content.count)", .eTag: "\"v1\""])
                }
                let end = min(start + 100_000, content.count)
                let headers: HTTPHeaders = [.eTag: "\"v1\"", .contentRange: "bytes \(start)-\(end - 1)/*"]
                return .status(.partialContent, headers: headers, body: content[start..<end])
            }
            var request = Fetch(url: server.url("/"), destination: file("film"))
            request.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == content)
        }

        // MARK: Where it goes

        /// A place that can't be written to, whoever asks.
        @Test(arguments: ["/proc/film", "/dev/null/film"])
        func aPlaceThatCannotBeWrittenIsAnError(_ path: String) async throws {
            let server = try MockServer { _ in .data(Self.content) }
            let request = Fetch(url: server.url("/"), destination: .file(URL(fileURLWithPath: path)))

            let error = await #expect(throws: RequestError.self) { try await OperationQueue().fetch(request) }

            #expect(error?.code == .cannotWriteFile && error?.underlying is DownloadError)
        }

        @Test func aFolderThatVanishesIsAnErrorAndNothingIsLeft() async throws {
            let inner = folder.appendingPathComponent("inner", isDirectory: true)
            let gate = Gate()
            let server = try MockServer { request in
                .script([
                    .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc".utf8)), .waitFor(gate),
                    .send(Data("def".utf8)),
                ])
            }
            let operation = OperationQueue().addRequest(
                Fetch(url: server.url("/"), destination: .file(inner.appendingPathComponent("film")))
            )
            while (try? FileManager.default.contentsOfDirectory(atPath: inner.path))?.isEmpty != false {
                await Task.yield()
            }
            try FileManager.default.removeItem(at: inner)
            gate.open()

            let error = await #expect(throws: RequestError.self) { try await operation.value() }

            #expect(error?.code == .cannotWriteFile)
            #expect(try names() == [])
        }

        @Test func aTokenGoesOnInAFolderThatIsNotThereYet() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let token = try await brokenDownload(of: server.url("/"))
            let target = folder.appendingPathComponent("a/../b/c/film")

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: .file(target), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A download resumes only if the response is for the same file.
    @Suite(.bounded) struct ResumeTests {
        typealias Fetch = DownloadTests.Fetch
        typealias FileServer = DownloadTests.FileServer

        private static let content = DownloadTests.content
        private let folder: DownloadFolder

        init() throws {
            folder = try DownloadFolder()
        }

        // MARK: The same file

        /// The server's responses to the request for the rest.
        enum Answer: String, CaseIterable, CustomTestStringConvertible {
            case otherPart, noPosition, severalParts, encoded, otherTag, otherLength, shrunk, notSatisfiable, wholeAgain
            case ownLength

            var testDescription: String { rawValue }

            /// Whether another request is needed.
            var asksAgain: Bool { self != .wholeAgain && self != .ownLength }

            func response(_ start: Int, _ content: Data) -> StubResponse {
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
        func appendsOnlyRemainderOfSameFile(_ answer: Answer) async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                guard let range = request.headers[.range] else { return files.answer(request) }
                return answer.response(Int(range.dropFirst("bytes=".count).dropLast()) ?? 0, Self.content)
            }
            let token = try await folder.brokenDownload(of: server.url("/"))

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: folder.file("film"), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && folder.names() == ["film"])
            #expect(server.requests.count == (answer.asksAgain ? 3 : 2))
        }

        @Test func expiredURLIsReplaced() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { request in
                request.query == ["key": "1"] && request.headers.contains(.range)
                    ? .status(.forbidden) : files.answer(request)
            }
            let token = try await folder.brokenDownload(of: server.url("/signed?key=1"))
            var request = Fetch(url: server.url("/signed?key=1"), destination: folder.file("film"), resumeToken: token)

            let expired = OperationQueue().addRequest(request)
            _ = try? await expired.value()
            #expect(expired.result?.failure?.code == .unacceptableStatus)
            request.url = server.url("/signed?key=2")
            request.resumeToken = expired.resumeToken
            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }

        // MARK: Requests

        @Test func requestThatAcceptsOnly200CanResume() async throws {
            struct Strict: DownloadRequest {
                typealias Success = Download.File
                typealias Failure = RequestError

                let base: Fetch
                var identifier: String { base.identifier }
                var destination: Download.Destination { base.destination }
                var options: RequestOptions { base.options }
                var validHTTPStatusCodes: [Int] { [200] }
                func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                    base.makeURLRequest(completion: completion)
                }
            }
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            var base = Fetch(url: server.url("/"), destination: folder.file("film"))
            base.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let whole = try await OperationQueue().fetch(Strict(base: base))

            #expect(try Data(contentsOf: whole.url) == Self.content && server.requests.count == 2)
        }

        /// A range of the caller's own, or a method whose response has no parts.
        @Test(arguments: [(HTTPMethod.get, "bytes=1000-1999"), (.post, nil)] as [(HTTPMethod, String?)])
        func requestForPartOfAFileIsSentUnchanged(_ method: HTTPMethod, _ range: String?) async throws {
            struct Part: DownloadRequest {
                typealias Success = Download.File
                typealias Failure = RequestError

                let http: HTTPRequest
                let destination: Download.Destination
                var options = RequestOptions()
                var resumesAutomatically: Bool { true }
                var identifier: String { http.url.absoluteString }
                func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                    completion(Result { try URLRequest(http) })
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
                let response = StubResponse.status(
                    range == nil ? .ok : .partialContent,
                    headers: range == nil ? [.eTag: "\"v1\""] : headers,
                    body: part
                )
                return isFirst ? response.truncated(after: 400) : response
            }
            let http = HTTPRequest(url: server.url("/"), method: method, headers: range.map { [.range: $0] } ?? [])
            var request = Part(http: http, destination: folder.file("part"))
            request.options.retry = RetryPolicy(limit: 1, backoff: .none, methods: [.get, .post])

            let fetched = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: fetched.url) == part && folder.names() == ["part"])
            #expect(server.requests.map { $0.headers[.range] } == [range, range])
        }

        /// A server that sends the content in several parts causes no failures.
        @Test func partialResponsesConsumeNoRetries() async throws {
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
                let response = StubResponse.status(.partialContent, headers: headers, body: content[start..<end])
                let fails =
                    end == content.count
                    && !failed.withLock { failed in
                        defer { failed = true }
                        return failed
                    }
                return fails ? response.truncated(after: 100) : response
            }
            var request = Fetch(url: server.url("/"), destination: folder.file("film"))
            request.options.retry = RetryPolicy(limit: 2, backoff: .none)

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == content)
        }

        /// The total length is unknown, and the end of a part isn't the end of the whole.
        @Test func partOfUnknownLengthIsNotComplete() async throws {
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
            var request = Fetch(url: server.url("/"), destination: folder.file("film"))
            request.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let whole = try await OperationQueue().fetch(request)

            #expect(try Data(contentsOf: whole.url) == content)
        }

        // MARK: Destinations

        /// A destination that no user can write to.
        @Test(arguments: ["/proc/film", "/dev/null/film"])
        func unwritableDestinationFails(_ path: String) async throws {
            let server = try MockServer { _ in .data(Self.content) }
            let request = Fetch(url: server.url("/"), destination: .file(URL(fileURLWithPath: path)))

            let error = await #expect(throws: RequestError.self) { try await OperationQueue().fetch(request) }

            #expect(error?.code == .cannotWriteFile && error?.underlying is FileError)
        }

        @Test func deletedFolderFailsAndLeavesNoFile() async throws {
            let inner = folder.url.appendingPathComponent("inner", isDirectory: true)
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
            try await eventually {
                (try? FileManager.default.contentsOfDirectory(atPath: inner.path))?.isEmpty == false
            }
            try FileManager.default.removeItem(at: inner)
            gate.open()

            let error = await #expect(throws: RequestError.self) { try await operation.value() }

            #expect(error?.code == .cannotWriteFile)
            #expect(try folder.names() == [])
        }

        @Test func tokenResumesInNewFolder() async throws {
            let files = FileServer(Self.content) { $0 == 1 ? 100_000 : nil }
            let server = try MockServer { files.answer($0) }
            let token = try await folder.brokenDownload(of: server.url("/"))
            let target = folder.url.appendingPathComponent("a/../b/c/film")

            let whole = try await OperationQueue().fetch(
                Fetch(url: server.url("/"), destination: .file(target), resumeToken: token)
            )

            #expect(try Data(contentsOf: whole.url) == Self.content && whole.response.status == .partialContent)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Downloads to one file, over a transport in memory.
final class DownloadTrial: Sendable {
    static let url = URL(string: "https://example.com/film.mov?signature=1")!
    static let otherURL = URL(string: "https://example.com/film.mov?signature=2")!

    /// The outcome of a download, as a user sees it.
    struct Outcome {
        /// The content of the file as its runs of equal letters, `400a 600b`; `nil` if there is no file.
        var file: String?
        var error: RequestError?
        var token: Download.ResumeToken?
        /// `Range` and `If-Range` of each sent request, `bytes=400- "a"`; empty for the complete content.
        var asked: [String]
        /// The reasons for the retries.
        var reasons: [String]
    }

    let folder = TemporaryFolder()
    var target: URL { folder.file("film.mov") }

    /// Runs a download with the given responses, followed by those of a correct server of 1000 times `c`.
    func run(
        _ answers: [StubResponse] = [],
        from url: URL = url,
        token: Download.ResumeToken? = nil,
        automatically: Bool = false,
        retries: Int = 0,
        to target: URL? = nil,
        otherwise serve: @escaping @Sendable (ReceivedRequest) -> StubResponse = { .part(of: 1000, "c", for: $0) }
    ) async throws -> Outcome {
        let (target, count) = (target ?? self.target, Locked(0))
        let transport = InMemoryTransport { request in
            let index = count.withLock { count in
                count += 1
                return count - 1
            }
            return answers.indices.contains(index) ? answers[index] : serve(request)
        }
        let reasons = RetryReasons()
        let client = HTTPClient(transport: transport) {
            $0.retry = RetryPolicy(limit: retries, backoff: .none)
            $0.monitors = [reasons]
        }
        let download = Download(HTTPRequest(url: url), to: .file(target, overwrite: true))
            .resuming(from: token).resumingAutomatically(automatically)

        let operation = client.addRequest(download)
        let result = await operation.asyncResult()

        // A part of compressed content couldn't be continued.
        #expect(transport.requests.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
        var outcome = Outcome(
            asked: transport.requests.map { request in
                [.range, .ifRange].compactMap { request.headers[$0] }.joined(separator: " ")
            },
            reasons: reasons.texts.withLock { $0 }
        )
        switch result {
        case .success(let file): outcome.file = try Data(contentsOf: file).runs
        case .failure(let error): (outcome.error, outcome.token) = (error, operation.resumeToken)
        }
        return outcome
    }

    /// The token of a download that broke after 400 times `a` out of 1000.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response; a strong tag and the length by default.
    ///   - written: The number of bytes written to the partial file after the token was created, as by a process
    ///     that is killed.
    func token(
        _ headers: HTTPHeaders = [.eTag: "\"a\"", .contentLength: "1000"],
        breakingAfter count: Int = 400,
        written: Int = 0,
        from url: URL = url
    ) async throws -> Download.ResumeToken {
        let token = try await run([.letters("a", 1000, .ok, headers).reset(after: count)], from: url).token
        if written > 0 {
            let name = try #require(try folder.names().first)
            let handle = try FileHandle(forWritingTo: folder.file(name))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(repeating: UInt8(ascii: "a"), count: written))
            try handle.close()
        }
        return try #require(token)
    }
}

/// Records the reasons for retries.
private struct RetryReasons: EventMonitor {
    let texts = Locked<[String]>([])

    func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        guard case .retryScheduled(_, let error) = event else { return }
        texts.withLock { $0.append(error.reason ?? "") }
    }
}

extension NetworkOperation {
    /// Waits for the result.
    fileprivate func asyncResult() async -> Result<R.Success, R.Failure> {
        do throws(R.Failure) { return .success(try await value()) } catch { return .failure(error) }
    }
}

extension StubResponse {
    /// A letter many times, with a `Content-Length` only if the fields have one.
    static func letters(_ letter: Character, _ count: Int, _ status: HTTPStatus, _ headers: HTTPHeaders) -> StubResponse
    {
        let body = Data(String(repeating: letter, count: count).utf8)
        return headers.contains(.contentLength)
            ? .status(status, headers: headers, body: body) : .chunked([body], status: status, headers: headers)
    }

    /// The response of a correct server: the missing part if the request has a range, otherwise the complete content.
    static func part(of total: Int, _ letter: Character, for request: ReceivedRequest) -> StubResponse {
        guard let start = request.headers[.range].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }) else {
            return .letters(letter, total, .ok, [.contentLength: "\(total)"])
        }
        return .letters(
            letter,
            total - start,
            .partialContent,
            [.contentRange: "bytes \(start)-\(total - 1)/\(total)"]
        )
    }
}

extension Data {
    /// The runs of equal letters: `400a 600b`.
    fileprivate var runs: String {
        var (runs, rest) = ([String](), self[...])
        while let letter = rest.first {
            let count = rest.withUnsafeBytes { bytes in bytes.firstIndex { $0 != letter } ?? bytes.count }
            runs.append("\(count)\(Character(Unicode.Scalar(letter)))")
            rest = rest.dropFirst(count)
        }
        return runs.joined(separator: " ")
    }
}

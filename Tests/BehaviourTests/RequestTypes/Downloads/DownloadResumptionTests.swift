// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Bytes are appended only if a strong validator proves that both are of the same representation, and if the server
/// states that they belong there; everything else starts over.
///
/// In the tables, `a` are the bytes of the interrupted download, `b` those of the response in question, and `c` those of
/// later responses.
@Suite(.bounded) struct DownloadResumptionTests {
    private static let change = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let dated: HTTPHeaders = [
        .lastModified: change, .date: "Sun, 06 Nov 1994 08:50:37 GMT", .contentLength: "1000",
    ]
    /// `Range` and `If-Range` of the request for the remaining bytes.
    private static let rest = "bytes=400- \"a\""
    private let trial: DownloadTrial

    init() throws {
        trial = DownloadTrial()
    }

    /// A response to the request for bytes 400 to 999 of 1000, with as many `b` as its `Content-Range` says.
    private func answer(_ status: HTTPStatus, _ headers: HTTPHeaders) -> StubResponse {
        let positions =
            headers[.contentRange]?.split(separator: "/")[0].split { !$0.isNumber }.compactMap { Int($0) } ?? []
        let count = positions.count == 2 && positions[0] <= positions[1] ? positions[1] - positions[0] + 1 : 600
        return .letters("b", count, status, headers)
    }

    // MARK: Requests

    @Test(arguments: [
        .temporary, .directory(FileManager.default.temporaryDirectory), Download.Destination { _, _ in home },
    ])
    func automaticResumptionRequiresFileDestination(destination: Download.Destination) async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(transport: transport)

        let error = await #expect(throws: RequestError.self) {
            try await client.fetch(Download(HTTPRequest(url: home), to: destination).resumingAutomatically())
        }

        #expect(error?.code == .invalidRequest && error?.reason?.contains("a `file` destination") == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func newDownloadRequestsWholeFile() async throws {
        let outcome = try await trial.run()

        #expect(outcome.asked == [""] && outcome.file == "1000c")
    }

    @Test(
        arguments: [
            ([.eTag: "\"a\""], "\"a\""), ([.eTag: "\"a\"", .lastModified: change], "\"a\""),
            ([.eTag: "\"a\"", .acceptRanges: "bytes"], "\"a\""),
            ([.eTag: "\"a\"", .contentEncoding: "identity"], "\"a\""), (dated, change),
            // A date that two versions may share.
            ([.lastModified: change, .date: "Sun, 06 Nov 1994 08:50:36 GMT"], nil), ([.lastModified: change], nil),
            ([.lastModified: "yesterday", .date: change], nil),
            // A weak tag, even with a date, and no tag.
            ([.eTag: "W/\"a\""], nil), ([.eTag: "\""], nil), ([:], nil),
            ([.eTag: "W/\"a\"", .lastModified: change, .date: "Sun, 06 Nov 1995 08:50:37 GMT"], nil),
            // Positions that aren't those of the file, and no positions.
            ([.eTag: "\"a\"", .contentEncoding: "gzip"], nil), ([.eTag: "\"a\"", .acceptRanges: "none"], nil),
            ([.eTag: "\"a\"", .acceptRanges: "\"x", .acceptRanges: "none"], nil),
        ] as [(HTTPHeaders, String?)]
    )
    func resumptionRequiresStrongValidator(headers: HTTPHeaders, condition: String?) async throws {
        let broken = StubResponse.letters("a", 1000, .ok, headers).reset(after: 400)

        let outcome = try await trial.run([broken], retries: 1)

        #expect(outcome.asked == ["", condition.map { "bytes=400- \($0)" } ?? ""])
        #expect(outcome.file == (condition == nil ? "1000c" : "400a 600c"))
    }

    @Test(
        arguments: [("1000", 1000), ("0", 0), ("-1", nil), ("1,000", nil), ("", nil), ("99999999999999999999", nil)]
            as [(String, Int64?)]
    )
    func contentLengthIsParsedStrictly(text: String, total: Int64?) async throws {
        let body = Data(repeating: 0, count: 1000)
        let broken = StubResponse.chunked([body], headers: [.eTag: "\"a\"", .contentLength: text]).reset(after: 400)

        let token = try #require(try await trial.run([broken]).token)

        #expect(token.totalLength == total)
    }

    @Test(
        arguments: [
            // The partial file is empty, or too long.
            ([.eTag: "\"a\"", .contentLength: "1000"], 0, 0, DownloadTrial.url),
            ([.eTag: "\"a\"", .contentLength: "1000"], 400, 601, DownloadTrial.url),
            // At another URL, neither a date nor a tag without a length is a validator.
            (dated, 400, 0, DownloadTrial.otherURL), ([.eTag: "\"a\""], 400, 0, DownloadTrial.otherURL),
        ] as [(HTTPHeaders, Int, Int, URL)]
    )
    func unresumableDownloadStartsOver(headers: HTTPHeaders, count: Int, written: Int, url: URL) async throws {
        let token = try await trial.token(headers, breakingAfter: count, written: written)

        let outcome = try await trial.run(from: url, token: token)

        #expect(outcome.asked == [""] && outcome.file == "1000c")
    }

    // MARK: Responses to the request for bytes 400 to 999 of 1000

    @Test(
        arguments: [
            // The rest, with and without optional fields.
            ([.contentRange: "bytes 400-999/1000", .eTag: "\"a\""], "400a 600b"),
            ([.contentRange: "bytes 400-999/1000"], "400a 600b"),
            ([.contentRange: "bytes 400-999/*", .eTag: "\"a\""], "400a 600b"),
            ([.contentRange: "bytes 400-999/1000", .contentLength: "600"], "400a 600b"),
            ([.contentRange: "bytes 400-999/1000", .contentEncoding: "identity"], "400a 600b"),
            ([.contentRange: "bytes 400-999/1000", .contentType: "video/quicktime"], "400a 600b"),
            // Less than the rest, and a beginning that is in the file already.
            ([.contentRange: "bytes 400-499/1000"], "400a 100b 500c"),
            ([.contentRange: "bytes 384-999/1000"], "384a 616b"), ([.contentRange: "bytes 0-999/1000"], "1000b"),
        ] as [(HTTPHeaders, String)]
    )
    func partialContentIsWrittenAtItsOffset(headers: HTTPHeaders, file: String) async throws {
        let outcome = try await trial.run([answer(.partialContent, headers)], token: trial.token())

        #expect(outcome.file == file)
        #expect(outcome.asked == [Self.rest] + (file.hasSuffix("c") ? ["bytes=500- \"a\""] : []))
    }

    @Test(
        arguments: [
            // Another part.
            (206, [.contentRange: "bytes 401-999/1000"], "different range"),
            (206, [.contentRange: "bytes 0-399/1000"], "different range"),
            (206, [.contentRange: "bytes 400-1000/*"], "different range"),
            (206, [.contentRange: "bytes 400-999/1000", .contentLength: "599"], "different range"),
            // A response without a range, or a contradictory one.
            (206, [:], "no valid Content-Range"), (206, [.contentRange: "bytes */1000"], "no valid Content-Range"),
            (206, [.contentRange: "bytes 999-400/1000"], "no valid Content-Range"),
            (206, [.contentRange: "bytes 400-1000/1000"], "no valid Content-Range"),
            (206, [.contentRange: "lines 400-999/1000"], "no valid Content-Range"),
            (206, [.contentType: "multipart/byteranges; boundary=b"], "several ranges"),
            // Another version, although the condition isn't met by it.
            (206, [.contentRange: "bytes 400-999/1000", .eTag: "\"b\""], "changed"),
            (206, [.contentRange: "bytes 400-999/1000", .eTag: "W/\"a\""], "changed"),
            (206, [.contentRange: "bytes 400-999/1000", .eTag: "\""], "changed"),
            (206, [.contentRange: "bytes 400-899/900"], "length of the file changed"),
            (206, [.contentRange: "bytes 400-1099/1100", .eTag: "\"a\""], "length of the file changed"),
            // A part of encoded content.
            (206, [.contentRange: "bytes 400-999/1000", .contentEncoding: "gzip"], "has a Content-Encoding"),
            // No content: the file has shrunk, grown, changed, or its length isn't given.
            (416, [.contentRange: "bytes */399"], "length of the file changed"),
            (416, [.contentRange: "bytes */400"], "length of the file changed"),
            (416, [.contentRange: "bytes */1000"], "length of the file changed"), (416, [:], "no valid Content-Range"),
            (416, [.contentRange: "bytes */*"], "no valid Content-Range"),
            (416, [.contentRange: "bytes 0-1/2"], "no valid Content-Range"),
        ] as [(HTTPStatus, HTTPHeaders, String)]
    )
    func unusablePartialResponseRestartsOnce(
        status: HTTPStatus,
        headers: HTTPHeaders,
        reason: String
    ) async throws {
        let response = answer(status, headers)

        let outcome = try await trial.run([response], token: trial.token())
        let obstinate = try await trial.run([response, answer(206, headers)], token: trial.token())
        let refusing = try await trial.run([response, answer(416, headers)], token: trial.token())

        #expect(outcome.file == "1000c" && outcome.asked == [Self.rest, ""])
        #expect(outcome.reasons.count == 1 && outcome.reasons.first?.contains(reason) == true, "\(outcome.reasons)")
        #expect(obstinate.error?.code == .badResponse && obstinate.asked == [Self.rest, ""])
        #expect(obstinate.error?.reason?.contains("none was requested") == true)
        #expect(refusing.error?.code == .unacceptableStatus && refusing.asked == [Self.rest, ""])
    }

    /// The condition isn't met, or the server doesn't send parts.
    @Test(
        arguments: [
            (200, [.eTag: "\"b\""], "600b"), (200, [.eTag: "\"a\"", .contentLength: "1000"], "1000b"),
            (203, [:], "600b"),
        ] as [(HTTPStatus, HTTPHeaders, String)]
    )
    func fullResponseReplacesPartialFile(status: HTTPStatus, headers: HTTPHeaders, file: String) async throws {
        let count = headers.contains(.contentLength) ? 1000 : 600

        let outcome = try await trial.run([.letters("b", count, status, headers)], token: trial.token())

        #expect(outcome.file == file && outcome.asked == [Self.rest])
    }

    @Test(arguments: [204, 304, 401, 403, 404, 410, 412, 429, 500, 503] as [HTTPStatus])
    func failedResumptionKeepsPartialFile(status: HTTPStatus) async throws {
        let outcome = try await trial.run([.status(status)], token: trial.token())

        #expect(outcome.error?.code == (status == .noContent ? .emptyResponse : .unacceptableStatus))
        let later = try await trial.run(token: outcome.token)
        #expect(later.asked == [Self.rest] && later.file == "400a 600c")
    }

    @Test(
        arguments: [
            ([.lastModified: change], true), ([.lastModified: "Sunday, 06-Nov-94 08:49:37 GMT"], true), ([:], true),
            ([.lastModified: "Sun, 06 Nov 1994 08:49:38 GMT"], false), ([.lastModified: "yesterday"], false),
        ] as [(HTTPHeaders, Bool)]
    )
    func lastModifiedServesAsValidator(headers: HTTPHeaders, isSame: Bool) async throws {
        var headers = headers
        headers[.contentRange] = "bytes 400-999/1000"

        let outcome = try await trial.run([answer(206, headers)], token: trial.token(Self.dated))

        #expect(outcome.asked == ["bytes=400- \(Self.change)"] + (isSame ? [] : [""]))
        #expect(outcome.file == (isSame ? "400a 600b" : "1000c"))
        #expect(isSame || outcome.reasons.first?.contains("changed") == true)
    }

    @Test(
        arguments: [
            ([.contentRange: "bytes */1000"], nil), ([.contentRange: "bytes */1000", .eTag: "\"a\""], nil),
            ([.contentRange: "bytes */1000", .eTag: "\"b\""], "changed"),
            ([.contentRange: "bytes */900"], "length of the file changed"),
            ([.contentRange: "bytes */1100"], "length of the file changed"),
            ([:], "no valid Content-Range"),
        ] as [(HTTPHeaders, String?)],
        ["1000", nil]
    )
    func fullyReceivedFileCompletesOn416(_ row: (headers: HTTPHeaders, reason: String?), total: String?) async throws {
        var first: HTTPHeaders = [.eTag: "\"a\""]
        first[.contentLength] = total
        let token = try await trial.token(first, written: 600)

        let outcome = try await trial.run([answer(416, row.headers)], token: token)

        #expect(outcome.asked == ["bytes=1000- \"a\""] + (row.reason == nil ? [] : [""]))
        #expect(outcome.file == (row.reason == nil ? "1000a" : "1000c"))
        #expect(row.reason.map { outcome.reasons.first?.contains($0) == true } ?? outcome.reasons.isEmpty)
    }

    @Test(
        arguments: [
            (206, [.contentRange: "bytes 400-999/1000", .eTag: "\"a\""], "400a 600b", 1),
            (206, [.contentRange: "bytes 400-999/1000"], "1000c", 2),
            (206, [.contentRange: "bytes 400-999/*", .eTag: "\"a\""], "1000c", 2),
            (206, [.contentRange: "bytes 400-1099/1100", .eTag: "\"a\""], "1000c", 2),
            (200, [.eTag: "\"b\""], "600b", 1), (403, [:], nil, 1),
        ] as [(HTTPStatus, HTTPHeaders, String?, Int)]
    )
    func resumingFromNewURLVerifiesRepresentation(
        status: HTTPStatus,
        headers: HTTPHeaders,
        file: String?,
        requests: Int
    ) async throws {
        let outcome = try await trial.run(
            [answer(status, headers)],
            from: DownloadTrial.otherURL,
            token: trial.token()
        )

        #expect(outcome.asked.first == Self.rest && outcome.asked.count == requests && outcome.file == file)
    }

    /// The new token is for the new URL, so the next response needn't prove the representation again.
    @Test func nextTokenRefersToNewURL() async throws {
        let part = StubResponse.letters(
            "b",
            600,
            .partialContent,
            [.contentRange: "bytes 400-999/1000", .eTag: "\"a\"", .contentLength: "600"]
        )
        let second = try await trial.run(
            [part.reset(after: 100)],
            from: DownloadTrial.otherURL,
            token: trial.token()
        )

        let third = try await trial.run(from: DownloadTrial.otherURL, token: second.token)

        #expect(third.asked == ["bytes=500- \"a\""] && third.file == "400a 100b 500c")
    }

    /// Credentials and the fragment aren't sent in the URL, so the comparison ignores them.
    @Test(arguments: ["https://example.com/film.mov?signature=1", "https://example.com/film.mov?signature=other"])
    func urlComparisonIgnoresUserInfoAndFragment(text: String) async throws {
        let url = try #require(URL(string: "https://user:secret@example.com/film.mov?signature=1#there"))
        let token = try await trial.token(Self.dated, from: url)

        // A date is a validator only at the same URL.
        let outcome = try await trial.run(from: try #require(URL(string: text)), token: token)

        #expect(outcome.asked == [text.hasSuffix("1") ? "bytes=400- \(Self.change)" : ""])
    }

    // MARK: Transcripts

    @Test func interruptedDownloadFetchesEachByteOnce() async throws {
        let outcome = try await trial.run(
            [
                .letters("a", 1000, .ok, [.eTag: "\"a\"", .contentLength: "1000"]).reset(after: 300),
                // A connection whose end isn't an error for the transport.
                .letters("b", 400, .partialContent, [.contentRange: "bytes 300-999/1000"]),
            ],
            retries: 2
        )

        #expect(outcome.asked == ["", "bytes=300- \"a\"", "bytes=700- \"a\""])
        #expect(outcome.file == "300a 400b 300c")
    }

    @Test func shortPartialResponseRequestsRemainder() async throws {
        let outcome = try await trial.run(
            [
                answer(.partialContent, [.contentRange: "bytes 400-699/1000"]),
                .letters("d", 300, .partialContent, [.contentRange: "bytes 700-999/*"]),
            ],
            token: trial.token()
        )

        #expect(outcome.asked == [Self.rest, "bytes=700- \"a\""] && outcome.file == "400a 300b 300d")
    }

    @Test(arguments: [(1, 17), (4096, 18), (65_536, nil), (1 << 20, nil)] as [(Int, Int?)])
    func tooManyTinyPartsFail(part: Int, rounds: Int?) async throws {
        let total = 400 + 24 * part
        let token = try await trial.token([.eTag: "\"a\"", .contentLength: "\(total)"])

        let outcome = try await trial.run(token: token) { request in
            let start = request.headers[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let headers: HTTPHeaders = [.contentRange: "bytes \(start)-\(start + part - 1)/\(total)"]
            return .letters("b", part, .partialContent, headers)
        }

        #expect(outcome.asked.count == rounds ?? 24)
        #expect(outcome.file == (rounds == nil ? "400a \(24 * part)b" : nil))
        #expect(outcome.error?.code == (rounds == nil ? nil : .badResponse))
        #expect(outcome.token?.receivedLength == rounds.map { Int64(400 + $0 * part) })
    }

    @Test func changedFileRestartsAndCanResume() async throws {
        let changed = StubResponse.letters("b", 500, .ok, [.eTag: "\"b\"", .contentLength: "500"])

        let outcome = try await trial.run([changed.reset(after: 100)], token: trial.token(), retries: 1) { request in
            .part(of: 500, "c", for: request)
        }

        #expect(outcome.asked == [Self.rest, "bytes=100- \"b\""] && outcome.file == "100b 400c")
    }

    @Test func interruptedRestartWithoutValidatorStartsOver() async throws {
        let outcome = try await trial.run(
            [
                answer(.partialContent, [.contentRange: "bytes 500-999/1000"]),
                .letters("d", 1000, .ok, [.contentLength: "1000"]).reset(after: 300),
            ],
            token: trial.token(),
            retries: 1
        )

        // Without a validator, it starts over.
        #expect(outcome.asked == [Self.rest, "", ""] && outcome.file == "1000c")
    }

    @Test func unknownLengthDownloadCompletes() async throws {
        #expect(try await trial.run([.letters("a", 123, .ok, [:])]).file == "123a")
    }

    @Test func encodedContentLengthIsNotFileLength() async throws {
        let headers: HTTPHeaders = [.contentLength: "100", .contentEncoding: "gzip"]

        #expect(try await trial.run([.letters("a", 400, .ok, headers)]).file == "400a")
    }

    @Test func excessPartialContentIsRejected() async throws {
        let excess = StubResponse.letters("b", 601, .partialContent, [.contentRange: "bytes 400-999/1000"])

        let outcome = try await trial.run([excess], token: trial.token(), retries: 1)

        #expect(outcome.error?.code == .badResponse && outcome.token == nil && outcome.asked == [Self.rest])
        #expect(try trial.folder.names().isEmpty)
    }

    @Test func randomResponsesNeverMisplaceBytes() async throws {
        var fuzz = Fuzz()
        let pieces = ["bytes ", "0", "4", "400", "999", "1000", "-", "/", "*", "400-999/1000", "9223372036854775807"]
        for round in 0..<Scale.fuzz(weight: 400) {
            let range = (Bool.random(using: &fuzz) ? "bytes " : "") + fuzz.text(of: pieces, upTo: 6)
            var headers = HTTPHeaders()
            headers.add(range.filter { !$0.isNewline && $0 != "\0" }, for: .contentRange)
            headers.add(fuzz.text(of: ["600", "1"], upTo: 1).filter(\.isNumber), for: .contentLength)
            let status: HTTPStatus = fuzz.next() % 2 == 0 ? .partialContent : .rangeNotSatisfiable
            let token = try await trial.token(
                round % 2 == 0 ? [.eTag: "\"a\""] : [.eTag: "\"a\"", .contentLength: "1000"]
            )

            let outcome = try await trial.run([.letters("b", 600, status, headers)], token: token)

            // At most the existing bytes, followed by new ones; 400 bytes are never the complete file.
            let runs = outcome.file?.split(separator: " ").map(String.init) ?? []
            let isSound = runs.isEmpty || runs.first == "1000c" || runs.count > 1 || runs.first?.hasSuffix("b") == true
            let old = runs.first.flatMap { $0.hasSuffix("a") ? Int($0.dropLast()) : 0 } ?? 0
            #expect(
                isSound && old <= 400 && !runs.dropFirst().contains { $0.hasSuffix("a") },
                "\(range.debugDescription): \(runs), seed \(Fuzz.seed)"
            )
        }
    }
}

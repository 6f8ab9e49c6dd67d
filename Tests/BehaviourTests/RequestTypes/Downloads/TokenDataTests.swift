// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Tokens as data that is stored, lost and manipulated.
@Suite(.bounded) struct TokenDataTests {
    private let trial: DownloadTrial

    init() throws {
        trial = DownloadTrial()
    }

    /// Returns the bytes of a token in which one string is replaced by another.
    private func data(of token: Download.ResumeToken, replacing text: String, with other: String) throws -> Data {
        let original = String(decoding: token.data, as: UTF8.self).replacingOccurrences(of: "\\/", with: "/")
        let changed = original.replacingOccurrences(of: text, with: other)
        try #require(changed != original)
        return Data(changed.utf8)
    }

    @Test func resumeTokenRoundTrips() async throws {
        let token = try await trial.token()

        let other = try Download.ResumeToken(data: token.data)

        #expect(other == token && other.receivedLength == 400 && other.totalLength == 1000)
        #expect(other.created == token.created && abs(other.created.timeIntervalSinceNow) < 60)
        #expect(try await trial.run(token: other).file == "400a 600c")
    }

    @Test func resumeTokenContainsNoSecrets() async throws {
        let url = try #require(URL(string: "https://user:secret@example.com/film.mov?signature=secret#there"))
        let token = try await trial.token(from: url)

        #expect(!String(decoding: token.data, as: UTF8.self).contains("secret"))
    }

    @Test func discardingTokenRemovesPartialFile() async throws {
        let token = try await trial.token()
        #expect(try trial.folder.names().count == 1)

        token.discard()
        token.discard()

        #expect(try trial.folder.names() == [])
        #expect(try await trial.run(token: token).file == "1000c")
    }

    @Test(arguments: [
        "/etc/passwd", "a/NAME", "/a/../NAME", "~/.bashrc", "/a\\u0000/NAME", "", "/a/NAME.txt", "~NAME", "NAME",
    ])
    func tokenWithForeignPathIsRejected(path: String) async throws {
        let token = try await trial.token()
        let name = try #require(try trial.folder.names().first)
        let data = try data(
            of: token,
            replacing: "\"\(trial.folder.file(name).path)\"",
            with: "\"\(path.replacingOccurrences(of: "NAME", with: name))\""
        )

        #expect(throws: DecodingError.self) { try Download.ResumeToken(data: data) }
    }

    @Test(arguments: [
        ("\"receivedLength\":400", "\"receivedLength\":-1"), ("\"total\":1000", "\"total\":-1"), ("{", "nonsense"),
    ])
    func malformedTokenIsRejected(text: String, other: String) async throws {
        let data = try await data(of: trial.token(), replacing: text, with: other)

        #expect(throws: DecodingError.self) { try Download.ResumeToken(data: data) }
    }

    /// A validator with a line break isn't sent, so that no field can be smuggled into a request.
    @Test(
        arguments: [
            ([.eTag: "\"strong\"", .contentLength: "1000"], "strong"),
            (
                [
                    .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:50:37 GMT",
                    .contentLength: "1000",
                ], "Sun, 06 Nov 1994 08:49:37 GMT"
            ),
        ] as [(HTTPHeaders, String)]
    )
    func unsendableValidatorIsIgnored(headers: HTTPHeaders, validator: String) async throws {
        let stored = try await data(of: trial.token(headers), replacing: "\"\(validator)\"", with: #""a\r\nX-Evil: 1""#)

        let outcome = try await trial.run(token: Download.ResumeToken(data: stored))

        #expect(outcome.asked == [""] && outcome.file == "1000c")
    }

    @Test(arguments: ["film.mov", String(repeating: "é", count: 120)])
    func nextProcessResumesFromStoredToken(name: String) async throws {
        let (target, broken) = (trial.folder.file(name), StubResponse.letters("a", 1000, .ok, [.eTag: "\"a\""]))

        let first = try await trial.run(to: target)
        #expect(first.asked == [""])
        for _ in 0..<2 { _ = try await trial.run([broken.reset(after: 400)], automatically: true, to: target) }
        // The partial file, and its token.
        #expect(try trial.folder.names().filter { $0 != name }.count == 2)
        let second = try await trial.run(automatically: true, to: target)

        #expect(second.asked == ["bytes=400- \"a\""] && second.file == "400a 600c")
        #expect(try trial.folder.names() == [name])
    }

    @Test func movedTokenIsIgnored() async throws {
        let elsewhere = trial.folder.url.appendingPathComponent("elsewhere", isDirectory: true)
        let broken = StubResponse.letters("a", 1000, .ok, [.eTag: "\"a\""]).reset(after: 400)
        _ = try await trial.run([broken], automatically: true, to: elsewhere.appendingPathComponent("film.mov"))
        let names = try FileManager.default.contentsOfDirectory(atPath: elsewhere.path)
        let storage = try #require(names.first { $0.hasSuffix(".resume") })
        try FileManager.default.moveItem(at: elsewhere.appendingPathComponent(storage), to: trial.folder.file(storage))

        let here = try await trial.run(automatically: true)
        let there = try await trial.run(automatically: true, to: elsewhere.appendingPathComponent("film.mov"))

        #expect(here.asked == [""] && there.asked == [""])
    }
}

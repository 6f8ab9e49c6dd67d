// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ResumeMachineTests {
    typealias Decision = ResumeMachine.Decision

    private static let url = URL(string: "https://example.com/film.mov?signature=1")!
    private static let otherURL = URL(string: "https://example.com/film.mov?signature=2")!
    private static let change = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let now = Date(timeIntervalSince1970: 1_783_728_000)

    private static func manifest(
        _ validator: DownloadManifest.Validator = .tag("a"),
        total: Int64? = 1000
    ) -> DownloadManifest {
        DownloadManifest(
            address: DownloadManifest.digest(of: url),
            validator: validator,
            total: total,
            created: now
        )
    }

    private static func machine(_ manifest: DownloadManifest?, length: Int64, url: URL = url) -> ResumeMachine {
        ResumeMachine(manifest: manifest, length: length, url: url, now: { now })
    }

    private static func head(_ status: Int, _ fields: [String: String]) -> HTTPResponseHead {
        HTTPResponseHead(status: HTTPStatus(status), headers: HTTPHeaders(fields))
    }

    private func text(of fields: [HTTPField]) -> [String] { fields.map(\.description) }

    // MARK: Requests

    @Test func withoutAFileTheWholeIsAskedForAsItIs() {
        #expect(text(of: Self.machine(nil, length: 0).fields) == ["Accept-Encoding: identity"])
    }

    @Test(
        arguments: [
            (DownloadManifest.Validator.tag("a"), "If-Range: \"a\""), (.date(change), "If-Range: \(change)"),
        ] as [(DownloadManifest.Validator, String)]
    )
    func theRestIsAskedForOnTheConditionThatItIsTheSame(validator: DownloadManifest.Validator, field: String) {
        let machine = Self.machine(Self.manifest(validator), length: 400)

        #expect(text(of: machine.fields) == ["Accept-Encoding: identity", "Range: bytes=400-", field])
        #expect(machine.offset == 400)
    }

    @Test(
        arguments: [
            (manifest(), 0, url), (manifest(), -1, url), (manifest(), 1001, url), (nil, 400, url),
            (manifest(total: -1), 400, url),
            (manifest(.tag("a\r\nX-Evil: 1")), 400, url), (manifest(.date("a\r\nX-Evil: 1")), 400, url),
            // At another address a time is no validator, nor is a tag without a length.
            (manifest(.date(change)), 400, otherURL), (manifest(total: nil), 400, otherURL),
        ] as [(DownloadManifest?, Int64, URL)]
    )
    func unresumableFileIsRequestedAsAWhole(manifest: DownloadManifest?, length: Int64, url: URL) {
        let machine = Self.machine(manifest, length: length, url: url)

        #expect(text(of: machine.fields) == ["Accept-Encoding: identity"])
        #expect(machine.offset == 0 && machine.manifest == nil)
    }

    @Test(arguments: [nil, 1000] as [Int64?]) func aWholeFileIsAskedAboutToo(total: Int64?) {
        #expect(text(of: Self.machine(Self.manifest(total: total), length: 1000).fields).contains("Range: bytes=1000-"))
    }

    // MARK: Responses to the request for bytes 400 to 999 of 1000

    @Test(
        arguments: [
            // The rest, with and without optional fields.
            (206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/1000"], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/*", "ETag": "\"a\""], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/1000", "Content-Length": "600"], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/1000", "Content-Encoding": "identity"], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/1000", "Content-Type": "video/quicktime"], .append(at: 400)),
            // Less than the rest, and a beginning that is in the file already.
            (206, ["Content-Range": "bytes 400-499/1000"], .append(at: 400)),
            (206, ["Content-Range": "bytes 384-999/1000"], .append(at: 384)),
            (206, ["Content-Range": "bytes 0-999/1000"], .append(at: 0)),
            // Another part.
            (206, ["Content-Range": "bytes 401-999/1000"], .requestAgain(.wrongRange)),
            (206, ["Content-Range": "bytes 0-399/1000"], .requestAgain(.wrongRange)),
            (206, ["Content-Range": "bytes 400-1000/*"], .requestAgain(.wrongRange)),
            (206, ["Content-Range": "bytes 400-999/1000", "Content-Length": "599"], .requestAgain(.wrongRange)),
            // A response without a range, or a contradictory one.
            (206, [:], .requestAgain(.noRange)), (206, ["Content-Range": "bytes */1000"], .requestAgain(.noRange)),
            (206, ["Content-Range": "bytes 999-400/1000"], .requestAgain(.noRange)),
            (206, ["Content-Range": "bytes 400-1000/1000"], .requestAgain(.noRange)),
            (206, ["Content-Range": "lines 400-999/1000"], .requestAgain(.noRange)),
            (206, ["Content-Type": "multipart/byteranges; boundary=b"], .requestAgain(.severalRanges)),
            // Another version, although the condition isn't met by it.
            (206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"b\""], .requestAgain(.changed)),
            (206, ["Content-Range": "bytes 400-999/1000", "ETag": "W/\"a\""], .requestAgain(.changed)),
            (206, ["Content-Range": "bytes 400-999/1000", "ETag": "\""], .requestAgain(.changed)),
            (206, ["Content-Range": "bytes 400-899/900"], .requestAgain(.resized)),
            (206, ["Content-Range": "bytes 400-1099/1100", "ETag": "\"a\""], .requestAgain(.resized)),
            // A part of other bytes.
            (206, ["Content-Range": "bytes 400-999/1000", "Content-Encoding": "gzip"], .requestAgain(.encoded)),
            // The whole: the condition isn't met, or the server doesn't send parts.
            (200, ["ETag": "\"b\""], .startOver), (200, ["ETag": "\"a\"", "Content-Length": "1000"], .startOver),
            (203, [:], .startOver),
            // No content: the file has shrunk, grown, changed, or its length isn't given.
            (416, ["Content-Range": "bytes */399"], .requestAgain(.resized)),
            (416, ["Content-Range": "bytes */400"], .requestAgain(.resized)),
            (416, ["Content-Range": "bytes */1000"], .requestAgain(.resized)),
            (416, [:], .requestAgain(.noRange)), (416, ["Content-Range": "bytes */*"], .requestAgain(.noRange)),
            (416, ["Content-Range": "bytes 0-1/2"], .requestAgain(.noRange)),
            // A response about something else: the file stays.
            (204, [:], .passOn), (304, [:], .passOn), (401, [:], .passOn), (403, [:], .passOn), (404, [:], .passOn),
            (410, [:], .passOn), (412, [:], .passOn), (429, [:], .passOn), (500, [:], .passOn), (503, [:], .passOn),
        ] as [(Int, [String: String], ResumeMachine.Decision)]
    )
    func theRestIsTakenOnlyWhereItBelongs(status: Int, fields: [String: String], decision: Decision) {
        var machine = Self.machine(Self.manifest(), length: 400)

        #expect(machine.handle(Self.head(status, fields)) == decision)

        switch decision {
        case .requestAgain:
            // The repeated request is for the whole, so it is repeated only once.
            #expect(text(of: machine.fields) == ["Accept-Encoding: identity"])
            #expect(machine.handle(Self.head(206, fields)) == .fail(.unasked))
            #expect(machine.handle(Self.head(416, fields)) == .passOn)
        case .passOn:
            #expect(machine.fields.count == 3 && machine.manifest == Self.manifest())
        default: break
        }
    }

    @Test(
        arguments: [
            (["Last-Modified": change], .append(at: 400)),
            (["Last-Modified": "Sunday, 06-Nov-94 08:49:37 GMT"], .append(at: 400)), ([:], .append(at: 400)),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"], .requestAgain(.changed)),
            (["Last-Modified": "yesterday"], .requestAgain(.changed)),
        ] as [([String: String], ResumeMachine.Decision)]
    )
    func aTimeIsAValidatorToo(fields: [String: String], decision: Decision) {
        var machine = Self.machine(Self.manifest(.date(Self.change)), length: 400)
        let fields = fields.merging(["Content-Range": "bytes 400-999/1000"]) { $1 }

        #expect(machine.handle(Self.head(206, fields)) == decision)
    }

    @Test(
        arguments: [
            (["Content-Range": "bytes */1000"], .complete),
            (["Content-Range": "bytes */1000", "ETag": "\"a\""], .complete),
            (["Content-Range": "bytes */1000", "ETag": "\"b\""], .requestAgain(.changed)),
            (["Content-Range": "bytes */900"], .requestAgain(.resized)),
            (["Content-Range": "bytes */1100"], .requestAgain(.resized)), ([:], .requestAgain(.noRange)),
        ] as [([String: String], ResumeMachine.Decision)]
    )
    func aFileThatIsWholeIsComplete(fields: [String: String], decision: Decision) {
        for total in [nil, 1000] as [Int64?] {
            var machine = Self.machine(Self.manifest(total: total), length: 1000)

            #expect(machine.handle(Self.head(416, fields)) == decision)
        }
    }

    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"a\""], .append(at: 400)),
            (206, ["Content-Range": "bytes 400-999/1000"], .requestAgain(.changed)),
            (206, ["Content-Range": "bytes 400-999/*", "ETag": "\"a\""], .requestAgain(.changed)),
            (206, ["Content-Range": "bytes 400-1099/1100", "ETag": "\"a\""], .requestAgain(.resized)),
            (200, ["ETag": "\"b\""], .startOver), (403, [:], .passOn),
        ] as [(Int, [String: String], ResumeMachine.Decision)]
    )
    func anotherAddressHasToSayThatTheFileIsTheSame(status: Int, fields: [String: String], decision: Decision) {
        var machine = Self.machine(Self.manifest(), length: 400, url: Self.otherURL)

        #expect(text(of: machine.fields).contains("Range: bytes=400-"))
        #expect(machine.handle(Self.head(status, fields)) == decision)
        if decision == .append(at: 400) {
            #expect(machine.manifest?.address == DownloadManifest.digest(of: Self.otherURL))
        }
    }

    // MARK: Transcripts

    @Test func aTransferThatBreaksTwiceFetchesEachByteOnce() {
        var machine = Self.machine(nil, length: 0)

        #expect(machine.handle(Self.head(200, ["ETag": "\"a\"", "Content-Length": "1000"])) == .startOver)
        #expect(machine.manifest == Self.manifest())
        machine.interrupted(length: 300)
        #expect(text(of: machine.fields).contains("Range: bytes=300-"))

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 300-999/1000"])) == .append(at: 300))
        #expect(machine.ended(length: 700) == .short)
        #expect(text(of: machine.fields).contains("Range: bytes=700-"))

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 700-999/1000"])) == .append(at: 700))
        #expect(machine.ended(length: 1000) == .complete)
    }

    @Test func aServerThatGivesLittleAtATimeIsAskedForMore() {
        var machine = Self.machine(Self.manifest(), length: 400)

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 400-699/1000"])) == .append(at: 400))
        #expect(machine.ended(length: 700) == .more)
        #expect(text(of: machine.fields).contains("Range: bytes=700-"))

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 700-999/*"])) == .append(at: 700))
        #expect(machine.ended(length: 1000) == .complete)
    }

    @Test(
        arguments: [(1, 17), (4096, 18), (65_536, nil), (1 << 20, nil)] as [(Int64, Int?)]
    )
    func aServerThatGivesTooLittleAtATimeIsGivenUp(part: Int64, expected: Int?) {
        let total: Int64 = 100 << 20
        var machine = Self.machine(Self.manifest(total: total), length: 400)
        var (length, rounds, end) = (Int64(400), 0, ResumeMachine.End.more)

        while end == .more {
            let last = min(length + part, total) - 1
            #expect(
                machine.handle(Self.head(206, ["Content-Range": "bytes \(length)-\(last)/\(total)"]))
                    == .append(at: length)
            )
            (length, rounds) = (last + 1, rounds + 1)
            end = machine.ended(length: length)
        }

        #expect(end == (expected == nil ? .complete : .stuck) && (expected == nil || rounds == expected))
        #expect(machine.manifest != nil && machine.offset > 400)
    }

    @Test func changedFileIsFetchedAgainAndCanBeResumed() {
        var machine = Self.machine(Self.manifest(), length: 400)

        #expect(machine.handle(Self.head(200, ["ETag": "\"b\"", "Content-Length": "500"])) == .startOver)
        machine.interrupted(length: 100)

        #expect(text(of: machine.fields) == ["Accept-Encoding: identity", "Range: bytes=100-", "If-Range: \"b\""])
        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 100-499/500"])) == .append(at: 100))
        #expect(machine.ended(length: 500) == .complete)
    }

    @Test func aWrongPartIsFollowedByTheWhole() {
        var machine = Self.machine(Self.manifest(), length: 400)

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 500-999/1000"])) == .requestAgain(.wrongRange))
        #expect(machine.handle(Self.head(200, ["Content-Length": "1000"])) == .startOver)
        // Without a validator, it starts over.
        machine.interrupted(length: 300)
        #expect(text(of: machine.fields) == ["Accept-Encoding: identity"])
    }

    @Test func anEndThatIsNotKnownIsWhereTheContentEnds() {
        var machine = Self.machine(nil, length: 0)

        #expect(machine.handle(Self.head(200, [:])) == .startOver)
        #expect(machine.ended(length: 123) == .complete)
    }

    @Test func theLengthOfEncodedContentIsNotThatOfTheFile() {
        var machine = Self.machine(nil, length: 0)

        #expect(machine.handle(Self.head(200, ["Content-Length": "100", "Content-Encoding": "gzip"])) == .startOver)
        #expect(machine.ended(length: 400) == .complete)
    }

    @Test func moreThanThereCanBeIsNotTrusted() {
        var machine = Self.machine(Self.manifest(), length: 400)

        #expect(machine.handle(Self.head(206, ["Content-Range": "bytes 400-999/1000"])) == .append(at: 400))
        #expect(machine.ended(length: 1001) == .excess)
        #expect(machine.offset == 0 && machine.manifest == nil)
    }

    @Test func bytesAreOnlyWrittenAtTheirPositionForAnyAnswer() {
        var fuzz = Fuzz()
        let pieces = ["bytes ", "0", "4", "400", "999", "1000", "-", "/", "*", "400-999/1000", "9223372036854775807"]
        let machines = [nil, 1000].map { Self.machine(Self.manifest(total: $0), length: 400) }
        for round in 0..<Scale.fuzz(weight: 4) {
            var machine = machines[round % 2]
            let range = (Bool.random(using: &fuzz) ? "bytes " : "") + fuzz.text(of: pieces, upTo: 6)
            let fields = ["Content-Range": range, "Content-Length": fuzz.text(of: ["600", "1"], upTo: 1)]

            let decision = machine.handle(Self.head(fuzz.next() % 2 == 0 ? 206 : 416, fields))

            if case .append(let position) = decision, !(0...400).contains(position) {
                Issue.record("\(range.debugDescription), seed \(Fuzz.seed)")
            }
            if decision == .complete { Issue.record("\(range.debugDescription), seed \(Fuzz.seed)") }
            _ = machine.ended(length: .max)
        }
    }
}

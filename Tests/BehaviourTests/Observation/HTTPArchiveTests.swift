// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The required members of HAR 1.2. Decoding fails if a member is missing or has another type.
private struct Archive: Decodable {
    struct Log: Decodable {
        let version: String
        let creator: Creator
        let entries: [Entry]
    }

    struct Creator: Decodable {
        let name: String
        let version: String
    }

    struct Entry: Decodable {
        let startedDateTime: String
        let time: Double
        let request: Request
        let response: Response
        let cache: [String: String]
        let timings: Timings
    }

    struct Pair: Decodable, Equatable {
        let name: String
        let value: String
    }

    struct Request: Decodable {
        let method: String
        let url: String
        let httpVersion: String
        let cookies: [Pair]
        let headers: [Pair]
        let queryString: [Pair]
        let headersSize: Int
        let bodySize: Int
    }

    struct Response: Decodable {
        let status: Int
        let statusText: String
        let httpVersion: String
        let cookies: [Pair]
        let headers: [Pair]
        let content: Content
        let redirectURL: String
        let headersSize: Int
        let bodySize: Int
    }

    struct Content: Decodable {
        let size: Int
        let mimeType: String
    }

    struct Timings: Decodable {
        let blocked: Double
        let dns: Double
        let connect: Double
        let send: Double
        let wait: Double
        let receive: Double
        let ssl: Double

        /// The sum that the standard defines for `time`, in which `connect` includes TLS.
        var sum: Double { [blocked, dns, connect, send, wait, receive].filter { $0 >= 0 }.reduce(0, +) }
    }

    let log: Log
}

@Suite(.bounded) struct HTTPArchiveTests {
    private let watch = ManualDate(SampleOperation.start)

    private func record(_ run: (SampleOperation) -> Void) -> RecordingMonitor.Timeline {
        let recorder = RecordingMonitor { [watch] in watch.now }
        run(SampleOperation(1, monitor: recorder, watch: watch))
        return recorder.timeline
    }

    private func read(_ timeline: RecordingMonitor.Timeline, revealingSecrets: Bool = false) throws -> Archive.Log {
        try JSONDecoder().decode(Archive.self, from: timeline.har(revealingSecrets: revealingSecrets)).log
    }

    @Test func archiveHasRequiredHARMembers() throws {
        let log = try read(record { $0.runThroughEverything() })

        #expect(log.version == "1.2" && log.creator.name == "Requests")
        #expect(log.entries.map(\.response.status) == [302, 503, 200])
        #expect(log.entries.map(\.startedDateTime) == log.entries.map(\.startedDateTime).sorted())
        for entry in log.entries {
            #expect(abs(entry.time - entry.timings.sum) < 0.0005)
            #expect(entry.timings.send >= 0 && entry.timings.wait >= 0 && entry.timings.receive >= 0)
        }
    }

    @Test func timingsAndSizesMatchMetrics() throws {
        let entry = try #require(try read(record { $0.runThroughEverything() }).entries.first)

        #expect(entry.startedDateTime == "2026-11-21T10:00:00.005Z" && entry.time == 28)
        let timings = entry.timings
        #expect([timings.blocked, timings.dns, timings.connect, timings.ssl] == [1, 2, 7, 4])
        #expect([timings.send, timings.wait, timings.receive] == [5, 6, 7])
        #expect(entry.request.httpVersion == "HTTP/1.1" && entry.request.headersSize == 100)
        #expect(entry.response.content.size == 1234 && entry.response.headersSize == 200)
    }

    @Test func unknownValuesAreMinusOne() throws {
        let entries = try read(record { $0.runThroughEverything() }).entries
        try #require(entries.count == 3)
        let entry = entries[1]

        let timings = entry.timings
        #expect([timings.blocked, timings.dns, timings.connect, timings.ssl] == [-1, -1, -1, -1])
        #expect([timings.send, timings.wait, timings.receive] == [0, 10, 0])
        #expect(entry.response.bodySize == -1 && entry.response.content.mimeType == "x-unknown")
    }

    @Test func secretsAreRevealedOnlyOnRequest() throws {
        let timeline = record { operation in
            operation.runThroughEverything()
            var request = SampleOperation.request
            request.headers = [.authorization(.bearer("hush")), HTTPField("Cookie", "a=hush")]
            operation.end(operation.begin(4, .initial, request), .ok, headers: ["Set-Cookie": "a=hush"])
        }

        let text = String(decoding: timeline.har(), as: UTF8.self)
        #expect(!text.contains("hush"))
        let entries = try read(timeline).entries
        try #require(entries.count == 4)
        let entry = entries[1]
        #expect(entry.request.url == "https://example.com/b?token=REDACTED&page=2")
        #expect(
            entry.request.queryString == [.init(name: "token", value: "REDACTED"), .init(name: "page", value: "2")]
        )

        let revealed = try read(timeline, revealingSecrets: true).entries
        try #require(revealed.count == 4)
        #expect(revealed[1].request.url == "https://example.com/b?token=hush&page=2")
        #expect(revealed[3].request.headers.contains(.init(name: "Authorization", value: "Bearer hush")))
    }

    @Test func failedAndUnfinishedTransfersHaveStatusZero() throws {
        let timeline = record { operation in
            operation.make()
            let attempt = operation.begin(1)
            watch.advance(milliseconds: 3)
            operation.end(attempt, nil, error: .cannotConnect)
            _ = operation.begin(2, .retry)
            watch.advance(milliseconds: 4)
        }

        let log = try read(timeline)

        #expect(log.entries.map(\.response.status) == [0, 0])
        #expect(log.entries.map(\.time) == [3, 4])
        #expect(String(decoding: timeline.har(), as: UTF8.self).contains(#""_error":"cannotConnect""#))
    }

    @Test func hostileTextIsEscapedInJSON() throws {
        let bad = "\"},{\u{0}\u{1}\n\\\u{7F}\u{2028}é"
        let timeline = record { operation in
            operation.make()
            operation.end(operation.begin(1), .ok, headers: [HTTPField(HTTPField.Name(bad), bad)])
        }

        let entry = try #require(try read(timeline).entries.first)
        #expect(entry.response.headers == [.init(name: bad, value: bad)])
    }

    @Test func archiveIsDeterministic() {
        let timeline = record { $0.runThroughEverything() }

        #expect(timeline.har() == timeline.har())
    }
}

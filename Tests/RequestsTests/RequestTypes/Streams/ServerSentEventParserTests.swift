// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ServerSentEventParserTests {
    private typealias Event = ServerSentEvent

    @Test(
        arguments: [
            // The examples of WHATWG HTML, 9.2.6.
            ("data: YHOO\ndata: +2\ndata: 10\n\n", [Event(data: "YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                [Event(data: "first event", id: "1"), Event(data: "second event"), Event(data: " third event")]
            ),
            // Its last block has no empty line after it.
            ("data\n\ndata\ndata\n\ndata:", [Event(data: ""), Event(data: "\n")]),
            ("data:test\n\ndata: test\n\n", [Event(data: "test"), Event(data: "test")]),
            // Line ends.
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\r", [Event(data: "a"), Event(data: "b"), Event(data: "c")]),
            // A byte-order mark counts once, and only at the beginning.
            ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [Event(data: "a")]),
            ("\u{FEFF}\u{FEFF}data: a\n\n", []),
            // Types.
            ("event: add\ndata: 1\n\ndata: 2\n\n", [Event(event: "add", data: "1"), Event(data: "2")]),
            ("event: add\n\ndata: 2\n\n", [Event(data: "2")]),
            ("event: a\nevent: b\nevent:\ndata: 2\n\n", [Event(data: "2")]),
            // Identifiers stay, can be reset, and have no NUL.
            ("id: 7\ndata: 1\n\ndata: 2\n\n", [Event(data: "1", id: "7"), Event(data: "2", id: "7")]),
            ("id: 7\nid: 8\0\ndata: 1\n\n", [Event(data: "1", id: "7")]),
            ("id: 7\n\ndata: 1\n\n", [Event(data: "1", id: "7")]),
            // Times are digits.
            ("retry: 250\ndata: 1\n\ndata: 2\n\n", [Event(data: "1", retry: .milliseconds(250)), Event(data: "2")]),
            ("retry: 1s\nretry: -1\nretry:\nretry\nretry: 1.5\ndata: 1\n\n", [Event(data: "1")]),
            (
                "retry: 99999999999999999999999999\ndata: 1\n\n",
                [Event(data: "1", retry: .seconds(1_000_000_000))]
            ),
            // Fields are found by their exact names; other names are ignored.
            ("Data: 1\n data: 2\ndata : 3\ndatum: 4\n: data: 5\n\n", []),
            ("data:::a\n\n", [Event(data: "::a")]), ("data: \u{E4}\u{20AC}\n\n", [Event(data: "ä€")]),
            // An incomplete event isn't delivered.
            ("data: 1\n", []), ("data: 1", []), ("", []), ("\n\n\n", []),
        ] as [(String, [ServerSentEvent])]
    )
    func eventsParseRegardlessOfChunking(text: String, events: [ServerSentEvent]) {
        for chunks in Cuts.all(of: text) {
            var parser = ServerSentEventParser()

            #expect(parser.all(of: chunks) == events, "\(chunks.map(\.count))")
            #expect(parser.failure == nil)
        }
    }

    @Test func invalidUTF8IsReplaced() {
        var parser = ServerSentEventParser()

        let events = parser.feed(Array("data: ".utf8) + [0xE2, 0x82, 0x0A, 0xFF, 0x0A, 0x0A])

        #expect(events == [ServerSentEvent(data: "\u{FFFD}")])
    }

    @Test func lastEventIDAppliesOnDispatch() {
        var parser = ServerSentEventParser(lastEventID: "3")

        #expect(parser.feed("data: a\n\nid: 4\n\nid: 5\ndata: cut".utf8) == [ServerSentEvent(data: "a", id: "3")])
        #expect(parser.finish() == [])
        #expect(parser.lastEventID == "4")
    }

    @Test func retryTimeAppliesImmediately() {
        var parser = ServerSentEventParser()

        _ = parser.feed("retry: 10\n".utf8)

        #expect(parser.retry == .milliseconds(10))
    }

    @Test(arguments: [
        "data: 12\n\ndata: 1234567890\n\n", "data: 12\n\ndata: 123456\ndata: 1234\n\n", "data: 12\n\n: 123456789\n\n",
    ])
    func eventAboveLimitFailsAfterEarlierEvents(_ text: String) {
        for chunks in Cuts.all(of: text + "data: 3\n\n") {
            var parser = ServerSentEventParser(limit: 10)

            #expect(parser.all(of: chunks) == [ServerSentEvent(data: "12")])
            #expect(parser.failure?.reason == "a single event of the stream exceeds 10 bytes")
        }
    }

    @Test func emptyDataLinesCountTowardsLimit() {
        var parser = ServerSentEventParser(limit: 100)

        for _ in 0..<102 { _ = parser.feed("data\n".utf8) }

        #expect(parser.failure != nil)
    }
}

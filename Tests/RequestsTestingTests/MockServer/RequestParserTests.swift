// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct RequestParserTests {
    static let transcript = """
        \r\nPOST /a?b=c HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a:\t 2 \r\nContent-Length: 5\r\n\r\nhello\
        PUT /chunks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n\
        4;ext=1\r\nWiki\r\nA\r\npedia\r\n in\r\n0\r\nX-Sum: 9\r\nX-End: yes\r\n\r\n\
        GET /last HTTP/1.0\r\n\r\n
        """

    static func events(_ pieces: [some Sequence<UInt8>]) -> [RequestParser.Event] {
        var parser = RequestParser()
        var events: [RequestParser.Event] = []
        for piece in pieces {
            parser.feed(piece)
            while let event = parser.next() { events.append(event) }
        }
        return events
    }

    @Test func parsesTranscriptIntoRequests() throws {
        let events = Self.events([Array(Self.transcript.utf8)])

        let messages = events.compactMap { if case .request(let message) = $0 { message } else { nil } }
        try #require(messages.count == 3 && events.count == 6)
        #expect(messages[0].head.method == .post)
        #expect(messages[0].head.target == "/a?b=c")
        #expect(messages[0].head.headers[values: "X-A"] == ["1", "2"])
        #expect(messages[0].body == Data("hello".utf8))
        #expect(messages[1].body == Data("Wikipedia\r\n in".utf8))
        #expect(messages[1].trailers == ["X-Sum": "9", "X-End": "yes"])
        #expect(messages[2].head.version == "HTTP/1.0")
        #expect(messages.map(\.rawBytes).reduce(Data(), +) == Data(Self.transcript.utf8))
        #expect(events[2] == .head(messages[1].head, expectsContinue: true))
        #expect(events[4] == .head(messages[2].head, expectsContinue: false))
    }

    @Test func splitDoesNotAffectParsing() {
        let bytes = Array(Self.transcript.utf8)
        let whole = Self.events([bytes])

        for position in 0...bytes.count {
            #expect(Self.events([bytes[..<position], bytes[position...]]) == whole)
        }
        #expect(Self.events(bytes.map { [$0] }) == whole)
    }

    static let refusals = [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400),
        ("\r\n\r\n\r\nG@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / FTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad\r\n\r\n", 400),
    ]

    @Test(arguments: refusals)
    func malformedRequestIsReportedOnce(text: String, status: Int) throws {
        for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
            let events = Self.events(pieces + [Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)])

            guard case .malformed(let found, _) = events.last else {
                Issue.record("accepted: \(events)")
                return
            }
            #expect(found.code == status)
        }
    }

    @Test func hugeContentLengthDoesNotTrap() {
        for field in ["Content-Length: \(Int.max)\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n"] {
            let events = Self.events([Array("PUT / HTTP/1.1\r\nHost: a\r\n\(field)abc".utf8)])

            #expect(events.count == 1)
        }
    }

    @Test func oversizedHeadIsRejected() {
        let filler = String(repeating: "a", count: RequestParser().maximumHeadSize)

        for end in ["", "\r\n\r\n"] {
            let events = Self.events([Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(filler)\(end)".utf8)])

            guard case .malformed(431, _)? = events.first, events.count == 1 else {
                Issue.record("accepted")
                return
            }
        }
    }
}

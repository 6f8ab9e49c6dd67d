// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct RequestParserFuzzTests {
    static let pieces = [
        "GET ", "POST ", "/", "/a?b=c", " HTTP/1.1\r\n", " HTTP/1.0\r\n", "GET / HTTP/1.1\r\nHost: h\r\n",
        "Host: h\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\n", "Content-Length: 3\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n",
        "Expect: 100-continue\r\n", "X: y\r\n", "\r\n", "\r\n\r\n", "\r", "\n", "3\r\nabc\r\n", "0\r\n\r\n", "0\r\n",
        "ff",
        ";ext=\"1\"\r\n", "abc", ":", " ", "\t", "99999999999999999999",
        "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: u\r\n\r\n",
        "POST /d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
    ]

    static func events(_ pieces: [some Collection<UInt8>]) -> [RequestParser.Event] {
        var parser = RequestParser(maximumHeadSize: 200)
        var events: [RequestParser.Event] = []
        for piece in pieces {
            parser.feed(piece)
            while let event = parser.next() { events.append(event) }
        }
        return events
    }

    /// Removes the reasons: a head that is too large may be refused before a fault in it is found, depending on the
    /// pieces.
    static func withoutReasons(_ events: [RequestParser.Event]) -> [RequestParser.Event] {
        events.map { if case .malformed = $0 { .malformed(.badRequest, "") } else { $0 } }
    }

    @Test func randomSplitDoesNotAffectParsing() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 4) {
            let bytes = Array(fuzz.text(of: Self.pieces).utf8)
            let whole = Self.events([bytes])
            let position = Int.random(in: 0...bytes.count, using: &fuzz)

            let split = Self.events([bytes[..<position], bytes[position...]])

            #expect(
                Self.withoutReasons(split) == Self.withoutReasons(whole),
                "\(String(decoding: bytes, as: UTF8.self))"
            )
            let requests = whole.compactMap { if case .request(let message) = $0 { message } else { nil } }
            let read = requests.map(\.rawBytes).reduce(Data(), +)
            #expect(read.elementsEqual(bytes.prefix(read.count)))
        }
    }

    @Test func splitAtEachOffsetDoesNotAffectParsing() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 2000) {
            let bytes = Array(fuzz.text(of: Self.pieces).utf8)
            let whole = Self.withoutReasons(Self.events([bytes]))

            for position in bytes.indices {
                #expect(Self.withoutReasons(Self.events([bytes[..<position], bytes[position...]])) == whole)
            }
            #expect(Self.withoutReasons(Self.events(bytes.map { CollectionOfOne($0) })) == whole)
        }
    }

    /// A pipelined request is moved once on average, not once for each request before it.
    @Test func parsesPipelinedRequestsInOrder() {
        let count = Scale.pick(2000, whole: 20_000)
        let size = 5 * count
        let bytes = Array((0..<count).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined().utf8)
        var parser = RequestParser()
        var next = 0

        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.feed(bytes[start..<min(start + size, bytes.count)])
            while let event = parser.next() {
                guard case .request(let message) = event else { continue }
                #expect(message.head.target == "/\(next)")
                next += 1
            }
        }

        #expect(next == count)
        #expect(parser.isBetweenRequests)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct LineParserTests {
    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\n", ["a"]), ("a\r", ["a"]), ("a\nb", ["a", "b"]),
            ("a\r\nb\r\n", ["a", "b"]), ("a\rb\r", ["a", "b"]), ("\n", [""]), ("\r\n\r\n", ["", ""]),
            ("\r\r", ["", ""]), ("\n\r", ["", ""]), ("a\n\r\nb", ["a", "", "b"]), ("a\r\r\nb", ["a", "", "b"]),
            ("ä\n€", ["ä", "€"]), ("a\0b\nc", ["a\0b", "c"]),
        ] as [(String, [String])]
    )
    func lineEndingsParseRegardlessOfChunking(text: String, lines: [String]) {
        for chunks in Cuts.all(of: text) {
            var parser = LineParser()

            let found = parser.all(of: chunks).map { String(decoding: $0, as: UTF8.self) }

            #expect(found == lines, "\(chunks.map(\.count))")
            #expect(parser.failure == nil)
        }
    }

    @Test func carriageReturnEndsLineImmediately() {
        var parser = LineParser()

        #expect(parser.feed("a\r".utf8) == [Data("a".utf8)])
        #expect(parser.feed("\n".utf8) == [])
        #expect(parser.feed("\n".utf8) == [Data()])
    }

    @Test func carriageReturnIsContentIfOnlyLFEndsLines() {
        var parser = LineParser(endsAtCarriageReturn: false)

        #expect(parser.feed("a\rb\r\nc".utf8) == [Data("a\rb\r".utf8)])
        #expect(parser.finish() == [Data("c".utf8)])
    }

    @Test(arguments: ["1234", "1234\n", "a\n12\n1234\nb\n", "\n1234567890"])
    func lineAboveLimitFailsAfterEarlierLines(_ text: String) {
        let whole = text.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.count < 4 }.map(
            String.init
        )
        for chunks in Cuts.all(of: text) {
            var parser = LineParser(limit: 3)

            let found = parser.all(of: chunks).map { String(decoding: $0, as: UTF8.self) }

            #expect(found == whole)
            #expect(parser.failure?.reason == "a single line of the stream exceeds 3 bytes")
        }
    }

    @Test func lineAtLimitIsAccepted() {
        var parser = LineParser(limit: 3)

        #expect(parser.feed("123\r\n123".utf8) == [Data("123".utf8)])
        #expect(parser.finish() == [Data("123".utf8)])
    }

    @Test func longLineInSmallChunksIsSingleLine() {
        var parser = LineParser(limit: 1 << 22)
        let chunk = [UInt8](repeating: 0x61, count: 64)
        let count = Scale.pick(1 << 11, whole: 1 << 15)

        for _ in 0..<count { _ = parser.feed(chunk) }

        #expect(parser.finish().map(\.count) == [count * 64])
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct JSONLinesParserTests {
    @Test(
        arguments: [
            ("", []), ("{}\n[]\n", ["{}", "[]"]), ("{}\r\n[]", ["{}", "[]"]), ("\n\n1\n \t\r\n2\n", ["1", "2"]),
            ("\u{FEFF}1\n2", ["1", "2"]), (" 1 \n", ["1"]), ("{\r\"a\": 1}\n", ["{\r\"a\": 1}"]), ("\r\n", []),
            ("nonsense\n1", ["nonsense", "1"]), ("\"ä€\"\n", ["\"ä€\""]),
        ] as [(String, [String])]
    )
    func linesParseRegardlessOfChunking(text: String, values: [String]) {
        for chunks in Cuts.all(of: text) {
            var parser = JSONLinesParser()

            let found = parser.all(of: chunks)

            #expect(found.map { String(decoding: $0, as: UTF8.self) } == values)
            #expect(found.allSatisfy { $0.startIndex == 0 })
        }
    }

    @Test func lineAboveLimitFailsAfterEarlierValues() {
        var parser = JSONLinesParser(limit: 4)

        #expect(parser.feed("1\n12345\n2\n".utf8) == [Data("1".utf8)])
        #expect(parser.failure?.reason == "a single line of the stream exceeds 4 bytes")
        #expect(parser.feed("3\n".utf8) == [])
        #expect(parser.finish() == [])
    }
}

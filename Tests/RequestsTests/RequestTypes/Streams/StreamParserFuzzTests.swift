// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Streams of a hostile server: for any bytes and any split, the elements are the same, and bounded.
@Suite(.bounded) struct StreamParserFuzzTests {
    private func feed<Parser: StreamParser>(
        _ words: [String],
        limit: Int,
        _ makeParser: () -> Parser,
        size: (Parser.Element) -> Int
    ) where Parser.Element: Equatable {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 4) {
            var bytes = Array(fuzz.text(of: words + ["\n", "\r", "\r\n", "\u{FEFF}", "\0", " ", ":"]).utf8)
            if Bool.random(using: &fuzz) { bytes.insert(UInt8.random(in: 128...255, using: &fuzz), at: 0) }
            var whole = makeParser()
            var cut = makeParser()

            let elements = whole.all(of: [Data(bytes)])
            let others = cut.all(of: Cuts.random(of: bytes, using: &fuzz))

            guard elements == others, whole.failure?.reason == cut.failure?.reason,
                elements.allSatisfy({ size($0) <= limit })
            else {
                Issue.record("\(bytes), seed \(Fuzz.seed)")
                return
            }
        }
    }

    @Test func lineParserIsChunkingInvariant() {
        feed(["a", "bcd", "ä"], limit: 12, { LineParser(limit: 12) }, size: \.count)
    }

    @Test func jsonLinesParserIsChunkingInvariant() {
        feed(["1", "{}", "\"a\""], limit: 12, { JSONLinesParser(limit: 12) }, size: \.count)
    }

    @Test func eventParserIsChunkingInvariant() {
        let words = ["data", "data: ", "data:ab\n", "event: e\n", "id: 1\n", "retry: 5\n", "retry: ", "\n\n", "id:"]
        // An invalid byte becomes three.
        feed(words, limit: 60, { ServerSentEventParser(limit: 20) }, size: \.data.utf8.count)
    }
}

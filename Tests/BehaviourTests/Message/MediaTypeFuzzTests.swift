// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct MediaTypeFuzzTests {
    private static let pieces = [
        "text", "/", "plain", "*", ";", " ", "=", "\"", "\\", "charset", "utf-8", "q", "0.5", "+json", ",", "ä", "\t",
        "boundary",
    ]

    @Test func parsedMediaTypeRoundTrips() throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz() {
            let text = (Bool.random(using: &fuzz) ? "text/plain;" : "") + fuzz.text(of: Self.pieces)
            guard let type = try? MediaType(parsing: text) else { continue }
            let printed = type.rawValue
            let isFine =
                type.isValid && printed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
                && printed.utf8.count <= 4 * text.utf8.count + 8
            guard isFine, try MediaType(parsing: printed) == type else {
                Issue.record("\(text.debugDescription), seed \(Fuzz.seed)")
                return
            }
        }
    }

    @Test func validMediaTypeRoundTrips() throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 4) {
            let name = fuzz.text(of: Self.pieces, upTo: 3)
            let value = fuzz.text(of: Self.pieces, upTo: 3)
            let type = MediaType("a", fuzz.text(of: ["b", "+", "/"], upTo: 3), parameters: [(name, value)])
            guard type.isValid else { continue }
            guard try MediaType(parsing: type.rawValue) == type else {
                Issue.record("\(type.rawValue.debugDescription), seed \(Fuzz.seed)")
                return
            }
        }
    }
}

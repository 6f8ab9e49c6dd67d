// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct QueryFuzzTests {
    private static let pieces = ["a", "b=", "&", "=", "%", "%20", "%C3%A9", "%FF", "+", "?", "#", "é", "[]", ";", "/"]

    @Test func queryRoundTrips() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 4) {
            let items = (0..<Int.random(in: 0...3, using: &fuzz)).map { _ in
                Query.Item(
                    fuzz.text(of: Self.pieces, upTo: 3) + "n",
                    value: Bool.random(using: &fuzz) ? fuzz.text(of: Self.pieces, upTo: 3) : nil
                )
            }
            for spaces in [Query.Spaces.percent, .plus] {
                let query = Query(items, spaces: spaces)
                let printed = query.percentEncoded

                #expect(Query(percentEncoded: printed, spaces: spaces) == query, "\(printed), seed \(Fuzz.seed)")
                #expect(printed.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") })
            }
            let form = String(decoding: Query(items).formEncoded, as: UTF8.self)
            let read = Query(percentEncoded: form, spaces: .plus)
            #expect(read.map(\.name) == items.map(\.name) && read.map(\.value) == items.map { $0.value ?? "" })
        }
    }

    @Test func serializingParsedQueryIsStable() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz() {
            let text = fuzz.text(of: Self.pieces, upTo: 6)
            let query = Query(percentEncoded: text, spaces: Bool.random(using: &fuzz) ? .plus : .percent)
            let printed = query.percentEncoded

            #expect(printed.utf8.count <= text.utf8.count * 9)
            #expect(
                Query(percentEncoded: printed, spaces: query.spaces).percentEncoded == printed,
                "\(text.debugDescription), seed \(Fuzz.seed)"
            )
        }
    }

    @Test func encodedQueryRoundTrips() throws {
        var fuzz = Fuzz()
        var encoder = QueryEncoder()
        encoder.arrays = .noBrackets
        for _ in 0..<Scale.fuzz(weight: 10) {
            var values: [String: [String]] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &fuzz) {
                values[fuzz.text(of: Self.pieces, upTo: 2) + "n"] = [
                    fuzz.text(of: Self.pieces, upTo: 2), fuzz.text(of: Self.pieces, upTo: 2),
                ]
            }
            let read = Query(percentEncoded: try encoder.encode(values).percentEncoded)

            #expect(read.count == values.count * 2)
            for (name, value) in values { #expect(read[values: name] == value, "seed \(Fuzz.seed)") }
        }
    }

    /// A hundred times the length takes about a hundred times as long; quadratic code would take ten thousand times
    /// as long.
    @Test(arguments: ["a=b&", "%", "%20", "=", "&", "é+"]) func longQueriesTakeLinearTime(_ piece: String) {
        func time(_ count: Int) -> Duration {
            let text = String(repeating: piece, count: count)
            return ProcessorTime.shortest { _ = Query(percentEncoded: text).percentEncoded }
        }
        let count = Scale.pick(100, whole: 1000)
        #expect(time(100 * count) < time(count) * 1000)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct DateTimestampTests {
    @Test(arguments: [
        ("2026-01-15T10:00:00.123Z", 1_768_471_200.123), ("2026-01-15T11:00:00.123+01:00", 1_768_471_200.123),
        ("2026-01-15T05:30:00-0430", 1_768_471_200), ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.5Z", -0.5),
    ])
    func parsesTimestamp(text: String, seconds: Double) throws {
        let date = try #require(Date(timestamp: text))

        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
    }

    @Test(arguments: [
        "", "2026", "2026-01-15", "2026-13-15T00:00:00Z", "99999999999999999999-01-01T00:00:00Z",
        "2026-01-15T10:00:00.99999999999999999999999Z", "２０２６-01-15T10:00:00Z", "2026-01-15T10:00:",
        "-026-01-15T10:00:00Z", "2026-01-15T10:00:00+999999999999", "2026-01-15T10:00:00Zx", "2026-01-15T10:00:00Z ",
        "2026-01-15T10:00:00.123Z.5", "2026-01-15T10:00:00+01:00x", " 2026-01-15T10:00:00Z",
    ])
    func rejectsInvalidTimestamp(text: String) {
        #expect(Date(timestamp: text) == nil)
    }

    @Test(arguments: [
        (0.005, "2026-11-21T10:00:00.005Z"), (1.5, "2026-11-21T10:00:01.500Z"), (50_400, "2026-11-22T00:00:00.000Z"),
    ])
    func formatsTimestampWithMilliseconds(_ seconds: Double, _ expected: String) {
        #expect(SampleOperation.start.addingTimeInterval(seconds).timestamp == expected)
    }

    @Test func timestampRoundTrips() throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 10) {
            let milliseconds = Int64.random(in: -2_000_000_000_000...4_000_000_000_000, using: &fuzz)
            let text = Date(timeIntervalSince1970: Double(milliseconds) / 1000).timestamp

            #expect(try #require(Date(timestamp: text)).timestamp == text, "seed \(Fuzz.seed)")
        }
    }
}

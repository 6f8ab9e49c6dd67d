// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct DateTimestampTests {
    @Test(arguments: [
        ("2026-01-15T10:00:00.123Z", 1_768_471_200.123), ("2026-01-15T11:00:00.123+01:00", 1_768_471_200.123),
        ("2026-01-15t05:30:00-0430", 1_768_471_200), ("2026-01-15 10:00Z", 1_768_471_200),
        ("1970-01-01T00:00:00", 0), ("1969-12-31T23:59:59.5Z", -0.5), ("2024-02-29T00:00:00,000000001Z", 1_709_164_800),
    ])
    func timeIsRead(text: String, seconds: Double) throws {
        let date = try #require(Date(timestamp: text))

        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
    }

    @Test(arguments: [
        "", "2026", "2026-01-15", "2026-02-30T00:00:00Z", "2026-01-15T24:00:00Z", "2026-1-15T10:00:00Z",
        "2026-01-15T10:00:00.123Zx", "2026-01-15T10:00:00+1", "2026-01-15T10:00:00+24:00", "２026-01-15T10:00:00Z",
        "2026-01-15T10:00:", "-026-01-15T10:00:00Z",
    ])
    func invalidTimeIsRefused(text: String) {
        #expect(Date(timestamp: text) == nil)
    }

    @Test func writtenTimeIsReadUnchanged() throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 10) {
            let milliseconds = Int64.random(in: -2_000_000_000_000...4_000_000_000_000, using: &fuzz)
            let text = Date(timeIntervalSince1970: Double(milliseconds) / 1000).timestamp()

            #expect(try #require(Date(timestamp: text)).timestamp() == text, "seed \(Fuzz.seed)")
        }
    }
}

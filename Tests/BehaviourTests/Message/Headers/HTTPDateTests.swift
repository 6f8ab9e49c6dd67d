// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPDateTests {
    // 2026-07-11.
    private let now = Date(timeIntervalSince1970: 1_783_728_000)

    @Test(
        arguments: [
            // RFC 9110, 5.6.7.
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ", "sun, 06 nov 1994 08:49:37 gmt", "Mon, 06 Nov 1994 08:49:37 UTC",
        ]
    )
    func parsesAllThreeDateFormats(_ text: String) throws {
        let date = try #require(HTTPDate(parsing: text, now: now))

        #expect(date.date == Date(timeIntervalSince1970: 784_111_777))
        #expect(date.rawValue == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (0.999, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-0.001, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-.infinity, "Mon, 01 Jan 0001 00:00:00 GMT"), (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(TimeInterval, String)]
    )
    func formatsDates(seconds: TimeInterval, text: String) {
        #expect(HTTPDate(Date(timeIntervalSince1970: seconds)).rawValue == text)
    }

    @Test(
        arguments: [
            ("Saturday, 11-Jul-76 00:00:00 GMT", 2076), ("Sunday, 12-Jul-76 00:00:00 GMT", 1976),
            ("Friday, 01-Jan-00 00:00:00 GMT", 2000), ("Friday, 01-Jan-77 00:00:00 GMT", 1977),
            ("Friday, 01-Jan-26 00:00:00 GMT", 2026), ("Friday, 01-Jan-99 00:00:00 GMT", 1999),
        ] as [(String, Int)]
    )
    func twoDigitYearIsAtMostFiftyYearsAhead(text: String, year: Int) throws {
        let date = try #require(HTTPDate(parsing: text, now: now))

        #expect(date.rawValue.contains(" \(year) "))
    }

    @Test(
        arguments: [
            "", "0", "-1", "now", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Tue, 29 Feb 2100 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 19940 08:49:37 GMT",
            "Xun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sunday Nov  6 08:49:37 1994", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, ０６ Nov 1994 08:49:37 GMT",
        ]
    )
    func malformedDateIsInvalid(_ text: String) {
        #expect(HTTPDate(parsing: text, now: now) == nil)
    }

    @Test func leapSecondRollsOverToNextMinute() throws {
        #expect(HTTPDate(parsing: "Sat, 31 Dec 2016 23:59:60 GMT")?.rawValue == "Sun, 01 Jan 2017 00:00:00 GMT")
        #expect(HTTPDate(parsing: "Fri, 31 Dec 9999 23:59:60 GMT")?.rawValue == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct CivilTimeTests {
    /// Every day in a full run, and every 23rd in a small one: both include the last.
    @Test func datesRoundTripOverFourCenturies() {
        var day = CivilTime(year: 1900, month: 1, day: 1)
        let (start, step) = (day.secondsSinceEpoch, Scale.pick(23, whole: 1))
        for seconds in stride(from: start, to: start + 146_097 * 86_400, by: step * 86_400) {
            day = CivilTime(secondsSinceEpoch: seconds)
            guard day.isValid, day.secondsSinceEpoch == seconds else {
                Issue.record("\(day)")
                return
            }
        }
        #expect(day == CivilTime(year: 2299, month: 12, day: 31))
    }

    @Test func matchesFoundationCalendar() throws {
        var fuzz = Fuzz()
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<Scale.pick(200, whole: 1000) {
            let seconds = Int64.random(in: -3_000_000_000...200_000_000_000, using: &fuzz)
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let time = CivilTime(secondsSinceEpoch: seconds)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            #expect(parts.year == time.year && parts.month == time.month && parts.day == time.day)
            #expect(parts.hour == time.hour && parts.minute == time.minute && parts.second == time.second)
            #expect(parts.weekday == time.weekday + 1)
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A time in the proleptic Gregorian calendar, in Greenwich: what the dates of fields are made of.
///
/// Foundation's formatters would do, but depend on a locale, take a hundred times as long, and forgive what they like.
struct CivilTime: Sendable, Hashable {
    var year: Int
    /// 1 to 12.
    var month: Int
    /// From 1.
    var day: Int
    var hour = 0
    var minute = 0
    /// 60 is a leap second, and the same as the next minute.
    var second = 0

    /// Whether there is such a time: the 29th of February only in leap years, no hour 24.
    var isValid: Bool {
        (1...9999).contains(year) && (1...12).contains(month) && (1...daysInMonth).contains(day)
            && (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
    }

    private var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The seconds since the beginning of 1970, of a valid time.
    var secondsSinceEpoch: Int64 {
        // Years begin in March here, so that the day that comes and goes is the last of the year.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The time so many seconds after the beginning of 1970; of the years 1 to 9999.
    init(secondsSinceEpoch seconds: Int64) {
        let time = Int(seconds - Self.days(seconds) * 86_400)
        let shifted = Int(Self.days(seconds)) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    }

    /// The day of the week, from 0 for Sunday, so many seconds after the beginning of 1970, which was a Thursday.
    static func weekday(secondsSinceEpoch seconds: Int64) -> Int {
        Int(((days(seconds) + 4) % 7 + 7) % 7)
    }

    private static func days(_ seconds: Int64) -> Int64 {
        (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    }
}

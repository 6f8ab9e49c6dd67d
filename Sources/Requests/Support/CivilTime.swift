// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The components of a UTC time in the proleptic Gregorian calendar, for dates in protocols.
///
/// Foundation's formatters aren't used, because they depend on a locale, are 100 times slower, and accept other
/// formats.
struct CivilTime: Sendable, Hashable {
    var year: Int
    /// The month, from 1 to 12.
    var month: Int
    /// The day of the month, from 1.
    var day: Int
    var hour = 0
    var minute = 0
    /// The second, from 0 to 60; 60 is a leap second, which is treated as second 0 of the next minute.
    var second = 0

    /// Whether the time exists; for example, 29 February exists only in leap years, and hour 24 never does.
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

    /// The number of seconds since the beginning of 1970; the time must be valid.
    var secondsSinceEpoch: Int64 {
        Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// The number of days since the beginning of 1970.
    private var days: Int {
        // In this calculation, years begin in March, so that the leap day is the last day of a year.
        let shifted = month > 2 ? year : year - 1
        let era = shifted.floored(by: 400).quotient
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day of the week, from 0 for Sunday.
    var weekday: Int {
        // The first day of 1970 was a Thursday.
        (days + 4).floored(by: 7).remainder
    }
}

extension CivilTime {
    init(year: Int, month: Int, day: Int, clock: (hour: Int, minute: Int, second: Int)) {
        self.init(year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }

    /// Creates the time at a number of seconds since the beginning of 1970, in the years 0 to 9999.
    init(secondsSinceEpoch seconds: Int64) {
        let (days, time) = seconds.floored(by: 86_400)
        let (era, dayOfEra) = (Int(days) + 719_468).floored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        (hour, minute, second) = (Int(time) / 3600, Int(time) / 60 % 60, Int(time) % 60)
    }
}

extension BinaryInteger {
    /// Returns the quotient, rounded down, and the remainder, which is never negative.
    func floored(by divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Int {
    /// Returns the decimal digits of the number, zero-padded to `count`.
    func padded(to count: Int) -> String {
        var text = String(self)
        while text.utf8.count < count { text = "0" + text }
        return text
    }
}

// MARK: - Text

extension CivilTime {
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let shortWeekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private var clock: String { "\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))" }

    /// The time as an HTTP date for header fields (RFC 9110, 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    var httpDate: String {
        let weekday = Self.shortWeekdays[weekday]
        return "\(weekday), \(day.padded(to: 2)) \(Self.months[month - 1]) \(year.padded(to: 4)) \(clock) GMT"
    }

    /// The time in ISO 8601, without a fraction and without a time zone, such as `1994-11-06T08:49:37`.
    var iso8601: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))T\(clock)" }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A time as it stands in a header field, in whole seconds (RFC 9110, 5.6.7).
///
/// ```swift
/// HTTPDate(.now).rawValue                                            // Sun, 06 Nov 1994 08:49:37 GMT
/// HTTPDate(parsing: "Sunday, 06-Nov-94 08:49:37 GMT")?.date
/// HTTPDate(parsing: "Sun Nov  6 08:49:37 1994")?.date
/// ```
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible, HTTPFieldValue {
    private let secondsSinceEpoch: Int64

    /// Takes a time, without the fraction of its second.
    ///
    /// The years of a field have four digits: a time before the year 1 or after 9999 becomes the nearest one that can
    /// be sent.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        secondsSinceEpoch = seconds.isNaN ? 0 : Int64(min(max(seconds, Self.earliest), Self.latest))
    }

    init(_ time: CivilTime) {
        secondsSinceEpoch = min(time.secondsSinceEpoch, Int64(Self.latest))
    }

    private static let earliest = -62_135_596_800.0
    private static let latest = 253_402_300_799.0

    /// The time.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(secondsSinceEpoch)) }

    /// The time in the form that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var rawValue: String {
        let time = CivilTime(secondsSinceEpoch: secondsSinceEpoch)
        let weekday = Self.shortWeekdays[CivilTime.weekday(secondsSinceEpoch: secondsSinceEpoch)]
        let clock = "\(time.hour.digits(2)):\(time.minute.digits(2)):\(time.second.digits(2))"
        return "\(weekday), \(time.day.digits(2)) \(Self.months[time.month - 1]) \(time.year.digits(4)) \(clock) GMT"
    }

    /// The time in the form that is sent.
    public var description: String { rawValue }

    /// Orders times from earlier to later.
    public static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSinceEpoch < rhs.secondsSinceEpoch
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let shortWeekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension Int {
    fileprivate func digits(_ count: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, count - digits.utf8.count)) + digits
    }
}

// MARK: - Parsing

extension HTTPDate {
    /// Reads a time in any of the three forms that a server may send; `nil` for any other text, such as `0` or `-1`.
    ///
    /// The name of the day isn't checked against the date.
    ///
    /// - Parameters:
    ///   - text: The value of a field.
    ///   - now: The present. A year of two digits is the latest that isn't more than fifty years ahead of it.
    public init?(parsing text: String, now: Date = Date()) {
        var scanner = FieldScanner(text.trimmedOfBlanks)
        let weekday = scanner.text(while: ASCII.isLetter)
        let isShort = Self.shortWeekdays.contains { $0.equalsIgnoringASCIICase(weekday) }
        guard isShort || Self.weekdays.contains(where: { $0.equalsIgnoringASCIICase(weekday) }) else { return nil }
        guard scanner.skip(",") else {
            guard isShort, scanner.skip(" "), let time = scanner.unixTime() else { return nil }
            self.init(time)
            return
        }
        guard scanner.skip(" "), let day = scanner.number(digits: 2) else { return nil }
        let isOld = scanner.skip("-")
        guard isOld || scanner.skip(" "), let month = scanner.month() else { return nil }
        guard scanner.skip(isOld ? "-" : " "), let year = scanner.number(digits: isOld ? 2 : 4) else { return nil }
        guard scanner.skip(" "), let time = scanner.clock(), scanner.skip(" ") else { return nil }
        guard scanner.isAtGreenwich else { return nil }
        let date = CivilTime(year: year, month: month, day: day, hour: time.0, minute: time.1, second: time.2)
        self.init(date, hasTwoDigits: isOld, now: now)
    }

    private init?(_ time: CivilTime, hasTwoDigits: Bool, now: Date) {
        var time = time
        if hasTwoDigits {
            var limit = HTTPDate(now).civilTime
            limit.year += 50
            time.year += (limit.year - time.year) / 100 * 100
            if time.isLater(than: limit) { time.year -= 100 }
        }
        guard time.isValid else { return nil }
        self.init(time)
    }

    private var civilTime: CivilTime { CivilTime(secondsSinceEpoch: Int64(date.timeIntervalSince1970)) }
}

extension CivilTime {
    // Both may be days that don't exist, such as the 29th of February fifty years after one.
    fileprivate func isLater(than other: CivilTime) -> Bool {
        other.components.lexicographicallyPrecedes(components)
    }

    private var components: [Int] { [year, month, day, hour, minute, second] }
}

extension FieldScanner {
    /// Reads exactly `count` digits; `nil` if there are fewer or more.
    fileprivate mutating func number(digits count: Int) -> Int? {
        let digits = text(while: ASCII.isDigit)
        return digits.utf8.count == count ? Int(digits) : nil
    }

    fileprivate mutating func month() -> Int? {
        let name = text(while: ASCII.isLetter)
        return HTTPDate.months.firstIndex { $0.equalsIgnoringASCIICase(name) }.map { $0 + 1 }
    }

    fileprivate mutating func clock() -> (Int, Int, Int)? {
        guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
            let second = number(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Whether only the name of the zone is left, which may be either of two.
    fileprivate var isAtGreenwich: Bool {
        var rest = self
        let zone = rest.token()
        return rest.isAtEnd && (zone.equalsIgnoringASCIICase("GMT") || zone.equalsIgnoringASCIICase("UTC"))
    }

    /// The form of C's `asctime`, behind the day of the week: `Nov  6 08:49:37 1994`.
    fileprivate mutating func unixTime() -> CivilTime? {
        guard let month = month(), skip(" ") else { return nil }
        guard let day = skip(" ") ? number(digits: 1) : number(digits: 2), skip(" ") else { return nil }
        guard let clock = clock(), skip(" "), let year = number(digits: 4), isAtEnd else { return nil }
        let time = CivilTime(
            year: year,
            month: month,
            day: day,
            hour: clock.0,
            minute: clock.1,
            second: clock.2
        )
        return time.isValid ? time : nil
    }
}

/// A time in the proleptic Gregorian calendar, in Greenwich: the components of a field's date.
///
/// Foundation's formatters depend on a locale, take a hundred times as long, and accept other formats.
struct CivilTime: Sendable, Hashable {
    var year: Int
    /// 1 to 12.
    var month: Int
    /// From 1.
    var day: Int
    var hour = 0
    var minute = 0
    /// 60 is a leap second, which equals the next minute.
    var second = 0

    /// Whether the time exists: the 29th of February only in leap years, no hour 24.
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

    /// The seconds since the beginning of 1970; the time must be valid.
    var secondsSinceEpoch: Int64 {
        // Years begin in March here, so that the leap day is the last day of a year.
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

    /// The time at a number of seconds after the beginning of 1970; for the years 1 to 9999.
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

    /// The day of the week, from 0 for Sunday, at a number of seconds after the beginning of 1970, which was a
    /// Thursday.
    static func weekday(secondsSinceEpoch seconds: Int64) -> Int {
        Int(((days(seconds) + 4) % 7 + 7) % 7)
    }

    private static func days(_ seconds: Int64) -> Int64 {
        (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPDate {
    /// Reads a time in any of the three forms that a server may send; nil where it is none, such as `0` or `-1`.
    ///
    /// The name of the day isn't compared with the date, since nothing follows from it.
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
    // Both may be days that there aren't, such as the 29th of February fifty years after one.
    fileprivate func isLater(than other: CivilTime) -> Bool {
        other.components.lexicographicallyPrecedes(components)
    }

    private var components: [Int] { [year, month, day, hour, minute, second] }
}

extension FieldScanner {
    /// Reads exactly so many digits; nil where there are fewer or more.
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

    /// Whether nothing is left but the name of the zone, for which there are two in use.
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

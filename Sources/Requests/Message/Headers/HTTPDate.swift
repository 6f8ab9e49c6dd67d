// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A time in a header field, in whole seconds (RFC 9110, 5.6.7).
///
/// ```swift
/// HTTPDate(.now).rawValue                                            // Sun, 06 Nov 1994 08:49:37 GMT
/// HTTPDate(parsing: "Sunday, 06-Nov-94 08:49:37 GMT")?.date
/// HTTPDate(parsing: "Sun Nov  6 08:49:37 1994")?.date
/// ```
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible, HTTPField.Value {
    private let secondsSinceEpoch: Int64

    /// Creates a value from a time, dropping fractional seconds.
    ///
    /// Years are sent with four digits, so a time before the year 1 or after 9999 becomes the nearest possible time.
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

    /// The time as it is sent, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var rawValue: String { CivilTime(secondsSinceEpoch: secondsSinceEpoch).httpDate }

    /// The time as it appears in the field.
    public var description: String { rawValue }

    /// Orders times from earlier to later.
    public static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSinceEpoch < rhs.secondsSinceEpoch
    }
}

// MARK: - Parsing

extension HTTPDate {
    /// Parses a time in any of the three formats that HTTP allows; `nil` for any other string, such as `0` or `-1`.
    ///
    /// The day of the week isn't checked against the date.
    ///
    /// - Parameters:
    ///   - text: The value of a field.
    ///   - now: The current time. A two-digit year is the latest possible year that is at most fifty years in the
    ///     future.
    public init?(parsing text: String, now: Date = Date()) {
        var scanner = FieldScanner(text.trimmedOfBlanks)
        let weekday = scanner.text(while: ASCII.isLetter)
        let isShort = CivilTime.shortWeekdays.contains { $0.equalsIgnoringASCIICase(weekday) }
        guard isShort || CivilTime.weekdays.contains(where: { $0.equalsIgnoringASCIICase(weekday) }),
            let time = scanner.skip(",") ? scanner.fixedOrRFC850Date(now) : isShort ? scanner.asctimeDate() : nil,
            scanner.isAtEnd, time.isValid
        else { return nil }
        self.init(time)
    }
}

extension FieldScanner {
    /// Reads ` 06 Nov 1994 08:49:37 GMT`, or the obsolete ` 06-Nov-94 08:49:37 GMT` (RFC 850).
    fileprivate mutating func fixedOrRFC850Date(_ now: Date) -> CivilTime? {
        guard skip(" "), let day: Int = number(2...2) else { return nil }
        let isOld = skip("-")
        guard isOld || skip(" "), let month = month(), skip(isOld ? "-" : " ") else { return nil }
        guard let year: Int = number(isOld ? 2...2 : 4...4), skip(" "), let clock = clock(), skip(" ") else {
            return nil
        }
        let zone = token()
        guard zone.equalsIgnoringASCIICase("GMT") || zone.equalsIgnoringASCIICase("UTC") else { return nil }
        let time = CivilTime(year: year, month: month, day: day, clock: clock)
        return isOld ? time.resolvingCentury(near: now) : time
    }

    /// Reads ` Nov  6 08:49:37 1994`, the format of C's `asctime`.
    fileprivate mutating func asctimeDate() -> CivilTime? {
        guard skip(" "), let month = month(), skip(" ") else { return nil }
        let isPadded = skip(" ")
        guard let day: Int = number(isPadded ? 1...1 : 2...2), skip(" "), let clock = clock(), skip(" "),
            let year: Int = number(4...4)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, clock: clock)
    }
}

extension CivilTime {
    /// Returns the latest time at most fifty years in the future whose year has the same last two digits as this time.
    fileprivate func resolvingCentury(near now: Date) -> CivilTime {
        var (time, limit) = (self, CivilTime(secondsSinceEpoch: Int64(HTTPDate(now).date.timeIntervalSince1970)))
        limit.year += 50
        time.year += (limit.year - time.year) / 100 * 100
        // Compare components, because either date may not exist, such as February 29 fifty years after a leap year.
        if limit.components.lexicographicallyPrecedes(time.components) { time.year -= 100 }
        return time
    }

    private var components: [Int] { [year, month, day, hour, minute, second] }
}

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
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible, HTTPField.Value {
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
    public var rawValue: String { CivilTime(secondsSinceEpoch: secondsSinceEpoch).httpDate }

    /// The value as it stands in the field.
    public var description: String { rawValue }

    /// Orders times from earlier to later.
    public static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSinceEpoch < rhs.secondsSinceEpoch
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
        let isShort = CivilTime.shortWeekdays.contains { $0.equalsIgnoringASCIICase(weekday) }
        guard isShort || CivilTime.weekdays.contains(where: { $0.equalsIgnoringASCIICase(weekday) }),
            let time = scanner.skip(",") ? scanner.fieldTime(now) : isShort ? scanner.unixTime() : nil,
            scanner.isAtEnd, time.isValid
        else { return nil }
        self.init(time)
    }
}

extension FieldScanner {
    /// Reads ` 06 Nov 1994 08:49:37 GMT`, or ` 06-Nov-94 08:49:37 GMT` (RFC 850).
    fileprivate mutating func fieldTime(_ now: Date) -> CivilTime? {
        guard skip(" "), let day: Int = number(2...2) else { return nil }
        let isOld = skip("-")
        guard isOld || skip(" "), let month = month(), skip(isOld ? "-" : " ") else { return nil }
        guard let year: Int = number(isOld ? 2...2 : 4...4), skip(" "), let clock = clock(), skip(" ") else {
            return nil
        }
        let zone = token()
        guard zone.equalsIgnoringASCIICase("GMT") || zone.equalsIgnoringASCIICase("UTC") else { return nil }
        let time = CivilTime(year: year, month: month, day: day, clock: clock)
        return isOld ? time.inCentury(before: now) : time
    }

    /// Reads ` Nov  6 08:49:37 1994`, the form of C's `asctime`.
    fileprivate mutating func unixTime() -> CivilTime? {
        guard skip(" "), let month = month(), skip(" ") else { return nil }
        let isPadded = skip(" ")
        guard let day: Int = number(isPadded ? 1...1 : 2...2), skip(" "), let clock = clock(), skip(" "),
            let year: Int = number(4...4)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, clock: clock)
    }
}

extension CivilTime {
    /// The latest time with these last two digits of the year that isn't more than fifty years ahead.
    fileprivate func inCentury(before now: Date) -> CivilTime {
        var (time, limit) = (self, CivilTime(secondsSinceEpoch: Int64(HTTPDate(now).date.timeIntervalSince1970)))
        limit.year += 50
        time.year += (limit.year - time.year) / 100 * 100
        // Both may be days that don't exist, such as the 29th of February fifty years after one.
        if limit.components.lexicographicallyPrecedes(time.components) { time.year -= 100 }
        return time
    }

    private var components: [Int] { [year, month, day, hour, minute, second] }
}

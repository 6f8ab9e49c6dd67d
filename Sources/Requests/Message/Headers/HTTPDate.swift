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
    /// The years of a field have four digits: a time before the year 1 or after 9999 is taken for the nearest of them.
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

    /// Orders times as they pass.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// When to try again: after a while, or at a time (RFC 9110, 10.2.3).
public enum RetryAfter: Sendable, Hashable, CustomStringConvertible, HTTPFieldValue {
    /// After so long; whole seconds are sent.
    case delay(Duration)
    /// At this time.
    case date(HTTPDate)

    /// Reads the value of a field, in either form; nil where it is neither, such as a negative number.
    ///
    /// More than 1,000,000,000 seconds, some thirty years, are read as that many: nobody waits longer, and no clock
    /// overflows.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The present, for dates whose year has two digits.
    public init?(parsing text: String, now: Date = Date()) {
        let text = text.trimmedOfBlanks
        if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
            self = .delay(.seconds(min(Int64(text) ?? .max, Self.longest)))
        } else if let date = HTTPDate(parsing: text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// How long to wait from a time on: never negative, never more than 1,000,000,000 seconds.
    public func delay(from now: Date) -> Duration {
        let wait =
            switch self {
            case .delay(let delay): delay
            case .date(let date):
                // Compared before it is converted, since a Duration traps on what it can't hold.
                Duration.seconds(min(max(0, date.date.timeIntervalSince(now)), TimeInterval(Self.longest)))
            }
        return min(max(.zero, wait), .seconds(Self.longest))
    }

    /// The value as it stands in the field; a part of a second is sent as a whole one, and a negative delay as 0.
    public var rawValue: String {
        switch self {
        case .delay(let delay):
            let (seconds, fraction) = min(max(.zero, delay), .seconds(Self.longest)).components
            return String(seconds + (fraction > 0 ? 1 : 0))
        case .date(let date): return date.rawValue
        }
    }

    /// The value as it stands in the field.
    public var description: String { rawValue }

    private static let longest: Int64 = 1_000_000_000
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fields that make a request conditional, or ask for a part of the resource (RFC 9110, 13 and 14).
extension HTTPField {
    /// Applies the request only if the representation differs from these: the question of a cache.
    ///
    /// Without any, the request is applied only if there is no representation at all, which keeps a `PUT` from
    /// replacing one.
    public static func ifNoneMatch(_ tags: EntityTag...) -> HTTPField { HTTPField(.ifNoneMatch, checked: list(tags)) }

    /// Applies the request only if the representation is one of these: this keeps a change from overwriting another.
    ///
    /// Without any, the request is applied only if there is a representation.
    public static func ifMatch(_ tags: EntityTag...) -> HTTPField { HTTPField(.ifMatch, checked: list(tags)) }

    /// Applies the request only if the resource changed since.
    public static func ifModifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifModifiedSince, date) }

    /// Applies the request only if the resource hasn't changed since.
    public static func ifUnmodifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifUnmodifiedSince, date) }

    /// Applies the range only to this representation, and otherwise asks for the whole.
    ///
    /// Only a strong tag guarantees equal bytes; a weak one is refused when the request is built.
    public static func ifRange(_ tag: EntityTag) -> HTTPField {
        HTTPField(
            .ifRange,
            checked: { () throws(InvalidRequest) in
                guard !tag.isWeak else { throw InvalidRequest(.headerValue, "of If-Range is a weak tag") }
                return try tag.validated().rawValue
            }
        )
    }

    /// Applies the range only if the resource hasn't changed since, and otherwise asks for the whole.
    public static func ifRange(_ date: Date) -> HTTPField { HTTPField(.ifRange, date) }

    /// Asks for the bytes of these positions, the first of which is 0.
    public static func range(_ positions: ClosedRange<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-\(positions.upperBound)")
    }

    /// Asks for the bytes from a position to the end.
    public static func range(_ positions: PartialRangeFrom<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-")
    }

    /// Asks for the bytes from a position to the end; the first position is 0.
    public static func range(from position: Int64) -> HTTPField { range(position...) }

    /// States which part of a representation the content is.
    public static func contentRange(_ range: ContentRange) -> HTTPField { HTTPField(.contentRange, range) }

    /// Asks for the last `count` bytes.
    public static func range(last count: Int64) -> HTTPField {
        range(from: count, "-\(count)")
    }

    /// The units in which parts can be requested; `none` if parts aren't supported.
    public static func acceptRanges(_ unit: String = "bytes") -> HTTPField { HTTPField(.acceptRanges, unit) }

    private static func range(from position: Int64, _ bytes: String) -> HTTPField {
        HTTPField(
            .range,
            checked: { () throws(InvalidRequest) in
                guard position >= 0 else { throw InvalidRequest(.headerValue, "of Range is negative", excerpt: bytes) }
                return "bytes=" + bytes
            }
        )
    }

    private static func list(_ tags: [EntityTag]) -> () throws(InvalidRequest) -> String {
        { () throws(InvalidRequest) in
            var values: [String] = []
            for tag in tags { values.append(try tag.validated().rawValue) }
            return values.isEmpty ? "*" : values.joined(separator: ", ")
        }
    }
}

// MARK: - Preferences

/// Fields that state the caller's preferences, the best first (RFC 9110, 12).
///
/// The first value has the weight 1, and each following one 0.1 less, down to 0.1. A value with a weight of its own
/// keeps it.
extension HTTPField {
    /// The media types that the caller can read.
    public static func accept(_ type: MediaType) -> HTTPField { accept([type]) }

    /// The media types that the caller can read, the best first: `application/json, application/xml;q=0.9`.
    public static func accept(_ types: [MediaType]) -> HTTPField {
        HTTPField(
            .accept,
            checked: { () throws(InvalidRequest) in
                var values: [String] = []
                for type in types { values.append(try type.validated().rawValue) }
                return weighted(values, isWeighted: { types[$0][parameter: "q"] != nil })
            }
        )
    }

    /// The languages that the caller prefers, the best first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: String...) -> HTTPField { acceptLanguage(languages) }

    /// The languages that the caller prefers, the best first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: [String]) -> HTTPField { preference(.acceptLanguage, languages) }

    /// The language that the caller prefers.
    public static func acceptLanguage(_ locale: Locale) -> HTTPField { acceptLanguage(locale.identifier(.bcp47)) }

    /// The codings of the content that the caller can read, the best first, such as `br` and `gzip`.
    ///
    /// A transport sets the codings that it can decode. Set the field only to restrict them, such as to `identity`, or
    /// to decode the content yourself.
    public static func acceptEncoding(_ codings: String...) -> HTTPField { preference(.acceptEncoding, codings) }

    /// The character sets that the caller can read, the best first.
    public static func acceptCharset(_ charsets: String...) -> HTTPField { preference(.acceptCharset, charsets) }

    /// A preference may be a whole list with weights, as configurations have it; then no weight is added.
    private static func preference(_ name: Name, _ values: [String]) -> HTTPField {
        HTTPField(
            name,
            checked: { () throws(InvalidRequest) in
                for value in values where value.isEmpty || !(ASCIISet.token + ";,= ").containsAll(value) {
                    throw InvalidRequest(.headerValue, "of \(name) isn't one", excerpt: value)
                }
                return weighted(
                    values,
                    isWeighted: { index in
                        values[index].utf8.contains { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }
                    }
                )
            }
        )
    }

    private static func weighted(_ values: [String], isWeighted: (Int) -> Bool) -> String {
        values.enumerated().map { index, value in
            index == 0 || isWeighted(index) ? value : "\(value);q=0.\(max(1, 10 - index))"
        }
        .joined(separator: ", ")
    }
}

extension HTTPField {
    /// The time of a retry: after a delay, or at a date (RFC 9110, 10.2.3).
    public enum RetryAfter: Sendable, Hashable, CustomStringConvertible, HTTPFieldValue {
        /// After this delay; sent in whole seconds.
        case delay(Duration)
        /// At this time.
        case date(HTTPDate)

        /// Reads the value of a field, in either form; `nil` for any other text, such as a negative number.
        ///
        /// Values above 1,000,000,000 seconds, some thirty years, are read as that many, so that no clock overflows.
        ///
        /// - Parameters:
        ///   - text: The value of the field.
        ///   - now: The present, for dates whose year has two digits.
        public init?(parsing text: String, now: Date = Date()) {
            let text = text.trimmedOfBlanks
            if text.isNumber {
                self = .delay(.seconds(min(Int64(text) ?? .max, Self.longest)))
            } else if let date = HTTPDate(parsing: text, now: now) {
                self = .date(date)
            } else {
                return nil
            }
        }

        /// The delay from a given time: never negative, never more than 1,000,000,000 seconds.
        public func delay(from now: Date) -> Duration {
            let wait =
                switch self {
                case .delay(let delay): delay
                case .date(let date):
                    Duration(clampedSeconds: date.date.timeIntervalSince(now))
                }
            return wait.clamped
        }

        /// The value as it stands in the field; a fraction of a second is rounded up, and a negative delay is sent as
        /// 0.
        public var rawValue: String {
            switch self {
            case .delay(let delay):
                let (seconds, fraction) = delay.clamped.components
                return String(seconds + (fraction > 0 ? 1 : 0))
            case .date(let date): return date.rawValue
            }
        }

        /// The value as it stands in the field.
        public var description: String { rawValue }

        private static let longest: Int64 = 1_000_000_000
    }
}

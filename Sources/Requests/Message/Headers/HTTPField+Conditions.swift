// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fields that make a request conditional, or ask for a part of the resource (RFC 9110, 13 and 14).
extension HTTPField {
    /// Applies the request only if the representation differs from these: the question of a cache.
    ///
    /// Without any, the request is applied only if there is no representation at all, which keeps a `PUT` from
    /// replacing one.
    public static func ifNoneMatch(_ tags: HTTPField.EntityTag...) -> HTTPField { list(.ifNoneMatch, tags) }

    /// Applies the request only if the representation is one of these: this keeps a change from overwriting another.
    ///
    /// Without any, the request is applied only if there is a representation.
    public static func ifMatch(_ tags: HTTPField.EntityTag...) -> HTTPField { list(.ifMatch, tags) }

    /// Applies the request only if the resource changed since.
    public static func ifModifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifModifiedSince, date) }

    /// Applies the request only if the resource hasn't changed since.
    public static func ifUnmodifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifUnmodifiedSince, date) }

    /// Applies the range only to this representation, and otherwise asks for the whole.
    ///
    /// Only a strong tag guarantees equal bytes; a weak one is refused when the request is built.
    public static func ifRange(_ tag: HTTPField.EntityTag) -> HTTPField {
        let flaw = tag.isWeak ? InvalidValue(.headerValue, "of If-Range is a weak tag") : tag.flaw
        return HTTPField(.ifRange, tag.rawValue, flaw: flaw)
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

    /// Asks for the last `count` bytes.
    public static func range(last count: Int64) -> HTTPField {
        range(from: count, "-\(count)")
    }

    /// The units in which parts can be requested; `none` if parts aren't supported.
    public static func acceptRanges(_ unit: String = "bytes") -> HTTPField { HTTPField(.acceptRanges, unit) }

    private static func range(from position: Int64, _ bytes: String) -> HTTPField {
        let flaw = position < 0 ? InvalidValue(.headerValue, "of Range is negative", excerpt: bytes) : nil
        return HTTPField(.range, "bytes=" + bytes, flaw: flaw)
    }

    private static func list(_ name: Name, _ tags: [HTTPField.EntityTag]) -> HTTPField {
        let values = tags.map(\.rawValue).joined(separator: ", ")
        return HTTPField(name, tags.isEmpty ? "*" : values, flaw: tags.lazy.compactMap(\.flaw).first)
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
        HTTPField(.accept, weighted(types.map(\.rawValue)), flaw: types.lazy.compactMap(\.flaw).first)
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
        let invalid = values.first { $0.isEmpty || !(ASCIISet.token + ";,= ").containsAll($0) }
        let flaw = invalid.map { InvalidValue(.headerValue, "of \(name) has an invalid character", excerpt: $0) }
        return HTTPField(name, weighted(values), flaw: flaw)
    }

    private static func weighted(_ values: [String]) -> String {
        values.enumerated().map { index, value in
            guard index > 0, !value.utf8.contains(UInt8(ascii: ",")),
                !value.lowercasedASCII.replacing(" ", with: "").contains(";q=")
            else { return value }
            return "\(value);q=0.\(max(1, 10 - index))"
        }
        .joined(separator: ", ")
    }
}

extension Duration {
    /// The delay that `Retry-After` asks for, as a number of seconds or as a date (RFC 9110, 10.2.3); `nil` for any
    /// other text, such as a negative number.
    ///
    /// Accepts a fraction such as `1.5`, although RFC 9110 doesn't allow one.
    ///
    /// It is never negative, and at most 1,000,000,000 seconds, some thirty years, so that no clock overflows.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The present.
    package init?(retryAfter text: String, now: Date) {
        let text = text.trimmedOfBlanks
        if text.isNumber {
            self = .seconds(min(Int64(text) ?? .max, 1_000_000_000))
        } else if let seconds = text.decimalFraction {
            self = Duration(clampedSeconds: seconds).clamped
        } else if let date = HTTPDate(parsing: text, now: now) {
            self = Duration(clampedSeconds: date.date.timeIntervalSince(now)).clamped
        } else {
            return nil
        }
    }

    /// The delay that `Retry-After-Ms` asks for, a number of milliseconds; `nil` for any other text.
    ///
    /// Several services send this field beside `Retry-After`, which can only name whole seconds.
    package init?(retryAfterMilliseconds text: String) {
        let text = text.trimmedOfBlanks
        guard let milliseconds = text.isNumber ? Double(text) : text.decimalFraction else { return nil }
        self = Duration(clampedSeconds: milliseconds / 1000).clamped
    }
}

extension String {
    /// The number of a text such as `1.5`; `nil` for any other text.
    fileprivate var decimalFraction: Double? {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { String($0).isNumber } ? Double(self) : nil
    }
}

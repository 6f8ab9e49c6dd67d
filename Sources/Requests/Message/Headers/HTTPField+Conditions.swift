// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fields for conditional requests and range requests (RFC 9110, 13 and 14).
extension HTTPField {
    /// Applies the request only if the representation matches none of the tags; caches use this field for revalidation.
    ///
    /// Without tags, the request is applied only if the resource has no representation, so that a `PUT` can't replace
    /// an existing representation.
    public static func ifNoneMatch(_ tags: HTTPField.EntityTag...) -> HTTPField { list(.ifNoneMatch, tags) }

    /// Applies the request only if the representation matches one of the tags, so that it can't overwrite newer
    /// changes.
    ///
    /// Without tags, the request is applied only if the resource has a representation.
    public static func ifMatch(_ tags: HTTPField.EntityTag...) -> HTTPField { list(.ifMatch, tags) }

    /// Applies the request only if the resource has changed since a date.
    public static func ifModifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifModifiedSince, date) }

    /// Applies the request only if the resource hasn't changed since a date.
    public static func ifUnmodifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifUnmodifiedSince, date) }

    /// Requests the range only if the representation matches the tag; otherwise the server sends the entire
    /// representation.
    ///
    /// Only a strong tag guarantees equal bytes, so a weak tag makes the request fail when it is built.
    public static func ifRange(_ tag: HTTPField.EntityTag) -> HTTPField {
        let flaw = tag.isWeak ? InvalidValue(in: .ifRange, "has a weak entity tag") : tag.flaw
        return HTTPField(.ifRange, tag.rawValue, flaw: flaw)
    }

    /// Requests the range only if the resource hasn't changed since a date; otherwise the server sends the entire
    /// representation.
    public static func ifRange(_ date: Date) -> HTTPField { HTTPField(.ifRange, date) }

    /// Requests the bytes at these positions; the first position is 0.
    public static func range(_ positions: ClosedRange<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-\(positions.upperBound)")
    }

    /// Requests the bytes from a position to the end.
    public static func range(_ positions: PartialRangeFrom<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-")
    }

    /// Requests the last `count` bytes.
    public static func range(last count: Int64) -> HTTPField {
        range(from: count, "-\(count)")
    }

    /// Declares the unit in which ranges can be requested; `none` if ranges aren't supported.
    public static func acceptRanges(_ unit: String = "bytes") -> HTTPField { HTTPField(.acceptRanges, unit) }

    private static func range(from position: Int64, _ bytes: String) -> HTTPField {
        let flaw = position < 0 ? InvalidValue(in: .range, "has a negative position or length", excerpt: bytes) : nil
        return HTTPField(.range, "bytes=" + bytes, flaw: flaw)
    }

    private static func list(_ name: Name, _ tags: [HTTPField.EntityTag]) -> HTTPField {
        let values = tags.map(\.rawValue).joined(separator: ", ")
        return HTTPField(name, tags.isEmpty ? "*" : values, flaw: tags.lazy.compactMap(\.flaw).first)
    }
}

// MARK: - Preferences

/// Fields for content negotiation, with the most preferred value first (RFC 9110, 12).
///
/// The first value has the weight 1. The weight of each following value is 0.1 lower, down to 0.1. A value that already
/// has a weight keeps it.
extension HTTPField {
    /// Declares the media type that the caller accepts.
    public static func accept(_ type: MediaType) -> HTTPField { accept([type]) }

    /// Declares the media types that the caller accepts, most preferred first:
    /// `application/json, application/xml;q=0.9`.
    public static func accept(_ types: [MediaType]) -> HTTPField {
        HTTPField(.accept, weighted(types.map(\.rawValue)), flaw: types.lazy.compactMap(\.flaw).first)
    }

    /// Declares the languages that the caller prefers, most preferred first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: String...) -> HTTPField { acceptLanguage(languages) }

    /// Declares the languages that the caller prefers, most preferred first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: [String]) -> HTTPField { preference(.acceptLanguage, languages) }

    /// Declares the language that the caller prefers.
    public static func acceptLanguage(_ locale: Locale) -> HTTPField { acceptLanguage(locale.identifier(.bcp47)) }

    /// Declares the content codings that the caller accepts, most preferred first, such as `br` and `gzip`.
    ///
    /// By default, transports declare the codings that they can decode. Set the field only to restrict them, for
    /// example to `identity`, or to decode the content yourself.
    public static func acceptEncoding(_ codings: String...) -> HTTPField { preference(.acceptEncoding, codings) }

    /// Declares the character sets that the caller accepts, most preferred first.
    public static func acceptCharset(_ charsets: String...) -> HTTPField { preference(.acceptCharset, charsets) }

    /// Creates the field of a preference.
    ///
    /// A value may be an entire list with weights, as in configurations, and is then sent unchanged.
    private static func preference(_ name: Name, _ values: [String]) -> HTTPField {
        let invalid = values.first { $0.isEmpty || !(ASCIISet.token + ";,= ").containsAll($0) }
        let flaw = invalid.map { InvalidValue(in: name, "has a value with an invalid character", excerpt: $0) }
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
    /// Parses the delay in `Retry-After`, given in seconds or as a date (RFC 9110, 10.2.3).
    ///
    /// Accepts a fraction such as `1.5`, although RFC 9110 doesn't allow it. Returns `nil` for any other string, such
    /// as a negative number.
    ///
    /// The delay is never negative, and at most 1,000,000,000 seconds (about thirty years), so that no clock overflows.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The current time.
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

    /// Parses the delay in `Retry-After-Ms`, given in milliseconds; returns `nil` for any other string.
    ///
    /// Several services send this field in addition to `Retry-After`, which only supports whole seconds.
    package init?(retryAfterMilliseconds text: String) {
        let text = text.trimmedOfBlanks
        guard let milliseconds = text.isNumber ? Double(text) : text.decimalFraction else { return nil }
        self = Duration(clampedSeconds: milliseconds / 1000).clamped
    }
}

extension String {
    /// The number in a string such as `1.5`; `nil` for any other string.
    fileprivate var decimalFraction: Double? {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { String($0).isNumber } ? Double(self) : nil
    }
}

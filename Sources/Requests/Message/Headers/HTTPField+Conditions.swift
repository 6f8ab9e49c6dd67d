// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The fields of requests that depend on what the resource is, or want a part of it (RFC 9110, 13 and 14).
extension HTTPField {
    /// Applies the request only if the representation is another than these: what a cache asks.
    ///
    /// Without any, it is applied only where there is no representation at all, which keeps a `PUT` from replacing one.
    public static func ifNoneMatch(_ tags: EntityTag...) -> HTTPField { HTTPField(.ifNoneMatch, checked: list(tags)) }

    /// Applies the request only if the representation is one of these: what keeps a change from undoing another's.
    ///
    /// Without any, it is applied only where there is a representation at all.
    public static func ifMatch(_ tags: EntityTag...) -> HTTPField { HTTPField(.ifMatch, checked: list(tags)) }

    /// Applies the request only if the resource changed since.
    public static func ifModifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifModifiedSince, date) }

    /// Applies the request only if the resource hasn't changed since.
    public static func ifUnmodifiedSince(_ date: Date) -> HTTPField { HTTPField(.ifUnmodifiedSince, date) }

    /// Applies the range only to this representation, and else wants the whole.
    ///
    /// Only a strong tag says that bytes are the same; a weak one is refused when the request is built.
    public static func ifRange(_ tag: EntityTag) -> HTTPField {
        HTTPField(
            .ifRange,
            checked: { () throws(InvalidRequest) in
                guard !tag.isWeak else { throw InvalidRequest(.headerValue, "of If-Range is a weak tag") }
                return try tag.validated().rawValue
            }
        )
    }

    /// Applies the range only if the resource hasn't changed since, and else wants the whole.
    public static func ifRange(_ date: Date) -> HTTPField { HTTPField(.ifRange, date) }

    /// Wants the bytes of these positions, the first of which is 0.
    public static func range(_ positions: ClosedRange<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-\(positions.upperBound)")
    }

    /// Wants the bytes from a position on.
    public static func range(_ positions: PartialRangeFrom<Int64>) -> HTTPField {
        range(from: positions.lowerBound, "\(positions.lowerBound)-")
    }

    /// Wants the bytes from a position on, the first of which is 0.
    public static func range(from position: Int64) -> HTTPField { range(position...) }

    /// Says which part of a representation the content is.
    public static func contentRange(_ range: ContentRange) -> HTTPField { HTTPField(.contentRange, range) }

    /// Wants so many bytes at the end.
    public static func range(last count: Int64) -> HTTPField {
        range(from: count, "-\(count)")
    }

    /// The units in which parts can be asked for; `none` for not at all.
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

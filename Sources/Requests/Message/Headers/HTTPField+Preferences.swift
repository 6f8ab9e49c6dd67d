// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The fields that say what the caller would like, the best first (RFC 9110, 12).
///
/// What comes first has the weight 1, and each that follows 0.1 less, down to 0.1. One that has a weight of its own
/// keeps it.
extension HTTPField {
    /// Which media types the caller can read.
    public static func accept(_ type: MediaType) -> HTTPField { accept([type]) }

    /// Which media types the caller can read, the best first: `application/json, application/xml;q=0.9`.
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

    /// Which languages the caller prefers, the best first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: String...) -> HTTPField { acceptLanguage(languages) }

    /// Which languages the caller prefers, the best first, as tags such as `en-GB`.
    public static func acceptLanguage(_ languages: [String]) -> HTTPField { preference(.acceptLanguage, languages) }

    /// Which language the caller prefers.
    public static func acceptLanguage(_ locale: Locale) -> HTTPField { acceptLanguage(locale.identifier(.bcp47)) }

    /// Which codings of the content the caller can read, the best first, such as `br` and `gzip`.
    ///
    /// A transport says by itself what it can decode. Set the field only to have less, such as `identity`, or to decode
    /// the content yourself.
    public static func acceptEncoding(_ codings: String...) -> HTTPField { preference(.acceptEncoding, codings) }

    /// Which character sets the caller can read, the best first.
    public static func acceptCharset(_ charsets: String...) -> HTTPField { preference(.acceptCharset, charsets) }

    /// A preference may be a whole list with weights, as configurations have it; nothing is added to such a one.
    private static func preference(_ name: Name, _ values: [String]) -> HTTPField {
        HTTPField(
            name,
            checked: { () throws(InvalidRequest) in
                for value in values where value.isEmpty || !value.utf8.allSatisfy(\.isPreference) {
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

extension UInt8 {
    /// Whether the byte stands in a language, a coding or a character set, or between several of them.
    fileprivate var isPreference: Bool {
        ASCII.isToken(self) || self == UInt8(ascii: ";") || self == UInt8(ascii: ",") || self == UInt8(ascii: "=")
            || self == UInt8(ascii: " ")
    }
}

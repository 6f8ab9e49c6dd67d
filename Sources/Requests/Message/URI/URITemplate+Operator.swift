// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// The operator of an expression, with the properties from the table in RFC 6570, appendix A.
    enum Operator: UInt8, Sendable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case path = 0x2F  // /
        case parameters = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &

        /// The string before the first value.
        var first: String { self == .simple || self == .reserved ? "" : String(Unicode.Scalar(rawValue)) }

        /// The string between two values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .query, .continuation: "&"
            case .label, .path, .parameters: first
            }
        }

        /// Whether each value is preceded by its name.
        var isNamed: Bool { self == .parameters || separator == "&" }

        /// The string after the name of an empty value.
        var emptySuffix: String { self == .parameters ? "" : "=" }

        /// Whether reserved characters and `%XX` in a value are kept.
        var keepsReserved: Bool { self == .reserved || self == .fragment }

        /// The characters of a value that aren't escaped.
        var allowedCharacters: ASCIISet { keepsReserved ? .address : .unreserved }
    }
}

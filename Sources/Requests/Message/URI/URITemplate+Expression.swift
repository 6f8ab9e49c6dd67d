// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// A piece of a template.
    enum Part: Sendable, Hashable {
        /// What stands in every expansion, escaped already.
        case literal(String)
        /// What the variables fill in.
        case expression(Expression)
    }

    /// What stands between two braces.
    struct Expression: Sendable, Hashable {
        var kind: Operator
        var variables: [Specifier]
    }

    /// A variable in an expression.
    struct Specifier: Sendable, Hashable {
        var name: String
        var modifier: Modifier
        /// Where it stands in the template, in bytes.
        var offset: Int
    }

    /// What stands behind the name of a variable (RFC 6570, 2.4).
    enum Modifier: Sendable, Hashable {
        case none
        /// At most so many characters of the value.
        case prefix(Int)
        /// Each member for itself.
        case explode
    }

    /// The kind of an expression, with the table of RFC 6570, appendix A.
    enum Operator: UInt8, Sendable {
        case simple = 0
        case reserved = 0x2B  // +
        case fragment = 0x23  // #
        case label = 0x2E  // .
        case path = 0x2F  // /
        case parameters = 0x3B  // ;
        case query = 0x3F  // ?
        case continuation = 0x26  // &

        /// What stands before the first value.
        var first: String {
            switch self {
            case .simple, .reserved: ""
            case .fragment: "#"
            case .label: "."
            case .path: "/"
            case .parameters: ";"
            case .query: "?"
            case .continuation: "&"
            }
        }

        /// What stands between two values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .label: "."
            case .path: "/"
            case .parameters: ";"
            case .query, .continuation: "&"
            }
        }

        /// Whether each value bears its name.
        var isNamed: Bool {
            switch self {
            case .parameters, .query, .continuation: true
            case .simple, .reserved, .fragment, .label, .path: false
            }
        }

        /// What stands behind the name of a value that is empty.
        var emptySuffix: String { self == .parameters ? "" : "=" }

        /// Whether reserved characters and `%XX` of a value stay as they are.
        var keepsReserved: Bool { self == .reserved || self == .fragment }

        /// Which characters of a value stay as they are.
        var encoding: PercentEncoding { keepsReserved ? .address : .unreserved }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// Parses a template by the grammar of RFC 6570, 2.
    ///
    /// - Complexity: O(n): each byte is read only a few times.
    struct Parser {
        private let bytes: [UInt8]
        private var position = 0

        init(_ template: String) {
            bytes = Array(template.utf8)
        }

        mutating func parse() throws(InvalidValue) -> [Part] {
            var parts: [Part] = []
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "{") {
                    parts.append(.expression(try parseExpression()))
                } else {
                    parts.append(.literal(try parseLiteral()))
                }
            }
            return parts
        }

        private mutating func parseLiteral() throws(InvalidValue) -> String {
            let start = position
            while let byte = current, byte != UInt8(ascii: "{") {
                guard mayStandInLiteral(byte) else {
                    let reason =
                        byte == UInt8(ascii: "}")
                        ? "has a closing brace without an opening one" : "has a character that isn't allowed"
                    throw error(reason, from: position, to: bytes.count)
                }
                position += 1
            }
            return ASCIISet.address.encode(
                String(decoding: bytes[start..<position], as: UTF8.self),
                keepsTriplets: true
            )
        }

        /// Whether the byte is allowed in a literal by RFC 6570, 2.1, or by its erratum 6937 about the apostrophe.
        ///
        /// Characters above ASCII are escaped, so only control characters among them are refused.
        private func mayStandInLiteral(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "%"): bytes.isTriplet(at: position)
            case 0xC2: position + 1 < bytes.count && bytes[position + 1] >= 0xA0
            case 0x80...: true
            default: ASCIISet.address.contains(byte)
            }
        }

        private mutating func parseExpression() throws(InvalidValue) -> Expression {
            let start = position
            position += 1
            guard let byte = current else { throw error("has a brace that isn't closed", from: start) }
            if "=,!@|".utf8.contains(byte) { throw error("has an unknown operator", from: start) }
            var expression = Expression(kind: .simple, variables: [])
            if let kind = Operator(rawValue: byte), kind != .simple {
                expression.kind = kind
                position += 1
            }
            while true {
                expression.variables.append(try parseSpecifier(ofExpressionAt: start))
                let end = current
                position += 1
                switch end {
                case UInt8(ascii: ","): continue
                case UInt8(ascii: "}"): return expression
                case nil: throw error("has a brace that isn't closed", from: start)
                default:
                    position -= 1
                    throw error("has an invalid expression", from: start)
                }
            }
        }

        private mutating func parseSpecifier(ofExpressionAt start: Int) throws(InvalidValue) -> Specifier {
            let begin = position
            var isNameComplete = false
            let characters = ASCIISet.alphanumerics + "_"
            while let byte = current {
                if characters.contains(byte) {
                    (position, isNameComplete) = (position + 1, true)
                } else if bytes.isTriplet(at: position) {
                    (position, isNameComplete) = (position + 3, true)
                } else if isNameComplete, byte == UInt8(ascii: ".") {
                    (position, isNameComplete) = (position + 1, false)
                } else {
                    break
                }
            }
            guard isNameComplete else { throw error("has an invalid variable name", from: start) }
            let name = String(decoding: bytes[begin..<position], as: UTF8.self)
            return Specifier(name: name, modifier: try parseModifier(ofExpressionAt: start))
        }

        private mutating func parseModifier(ofExpressionAt start: Int) throws(InvalidValue) -> Modifier {
            switch current {
            case UInt8(ascii: "*"):
                position += 1
                return .explode
            case UInt8(ascii: ":"):
                position += 1
                var length = 0
                while length < 1000, let byte = current, ASCII.isDigit(byte), length > 0 || byte != UInt8(ascii: "0") {
                    length = length * 10 + Int(byte - UInt8(ascii: "0"))
                    position += 1
                }
                guard length > 0 else { throw error("has a prefix that isn't a number from 1 to 9999", from: start) }
                return .prefix(length)
            default:
                return .none
            }
        }

        private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// Makes an error at the present position; the excerpt begins with the piece.
        private func error(_ reason: String, from start: Int, to end: Int? = nil) -> InvalidValue {
            let end = end ?? bytes[start...].firstIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? bytes.count
            let excerpt = String(decoding: bytes[start..<end], as: UTF8.self)
            return InvalidValue(.template, "\(reason), at byte \(min(position, bytes.count))", excerpt: excerpt)
        }
    }
}

// MARK: - Expression

extension URITemplate {
    /// A piece of a template.
    enum Part: Sendable, Hashable {
        /// A text in every expansion, already escaped.
        case literal(String)
        /// A place for the values of variables.
        case expression(Expression)
    }

    /// The text between two braces.
    struct Expression: Sendable, Hashable {
        var kind: Operator
        var variables: [Specifier]
    }

    /// A variable in an expression.
    struct Specifier: Sendable, Hashable {
        var name: String
        var modifier: Modifier
    }

    /// The text behind the name of a variable (RFC 6570, 2.4).
    enum Modifier: Sendable, Hashable {
        case none
        /// At most this number of characters of the value.
        case prefix(Int)
        /// Each member separately.
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

        /// The text before the first value.
        var first: String { self == .simple || self == .reserved ? "" : String(Unicode.Scalar(rawValue)) }

        /// The text between two values.
        var separator: String {
            switch self {
            case .simple, .reserved, .fragment: ","
            case .query, .continuation: "&"
            case .label, .path, .parameters: first
            }
        }

        /// Whether each value has its name in front.
        var isNamed: Bool { self == .parameters || separator == "&" }

        /// The text behind the name of an empty value.
        var emptySuffix: String { self == .parameters ? "" : "=" }

        /// Whether reserved characters and `%XX` of a value stay unescaped.
        var keepsReserved: Bool { self == .reserved || self == .fragment }

        /// The characters of a value that stay unescaped.
        var encoding: ASCIISet { keepsReserved ? .address : .unreserved }
    }
}

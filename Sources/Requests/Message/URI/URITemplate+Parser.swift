// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// Parses a template according to the grammar in RFC 6570, 2.
    ///
    /// - Complexity: O(n), because each byte is read only a few times.
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
                guard isAllowedInLiteral(byte) else {
                    let reason =
                        byte == UInt8(ascii: "}")
                        ? "has a closing brace without an opening brace" : "contains an invalid character"
                    throw error(reason, from: position, to: bytes.count)
                }
                position += 1
            }
            return ASCIISet.address.encode(
                String(decoding: bytes[start..<position], as: UTF8.self),
                keepsTriplets: true
            )
        }

        /// Returns whether the current byte is allowed in a literal (RFC 6570, 2.1, and erratum 6937 for the
        /// apostrophe).
        ///
        /// Non-ASCII characters are allowed, because they are escaped. Only non-ASCII control characters are rejected.
        private func isAllowedInLiteral(_ byte: UInt8) -> Bool {
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
            guard let byte = current else { throw error("has an unclosed brace", from: start) }
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
                case nil: throw error("has an unclosed brace", from: start)
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
                guard length > 0 else {
                    throw error("has a prefix modifier that isn't a number from 1 to 9999", from: start)
                }
                return .prefix(length)
            default:
                return .none
            }
        }

        private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// Creates an error at the current position, whose excerpt starts at `start`.
        ///
        /// Without `end`, the excerpt ends with the next closing brace.
        private func error(_ reason: String, from start: Int, to end: Int? = nil) -> InvalidValue {
            let end = end ?? bytes[start...].firstIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? bytes.count
            let excerpt = String(decoding: bytes[start..<end], as: UTF8.self)
            return InvalidValue(.template, "\(reason), at byte \(min(position, bytes.count))", excerpt: excerpt)
        }
    }
}

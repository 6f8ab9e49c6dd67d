// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// The value of a variable (RFC 6570, 2.3).
    public enum Value: Sendable, Hashable {
        /// A text.
        case string(String)
        /// Several texts, in their order; none is the same as ``undefined``.
        case list([String])
        /// Names with a value each, in their order; none is the same as ``undefined``.
        case pairs(Pairs)
        /// No value: what the expansion leaves out.
        case undefined

        /// Makes a value of whatever can be one; nil is ``undefined``.
        public init(_ value: (any ValueConvertible)?) {
            self = value?.templateValue ?? .undefined
        }

        /// Whether the expansion shows the value: an empty text is one, an empty list isn't.
        var isDefined: Bool {
            switch self {
            case .string: true
            case .list(let members): !members.isEmpty
            case .pairs(let pairs): !pairs.isEmpty
            case .undefined: false
            }
        }
    }
}

extension URITemplate.Value: URITemplate.ValueConvertible {
    /// The value itself.
    public var templateValue: URITemplate.Value { self }
}

extension URITemplate.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Makes a text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes a text of a number.
    public init(integerLiteral value: Int) {
        self = value.templateValue
    }

    /// Makes a text of a number.
    public init(floatLiteral value: Double) {
        self = value.templateValue
    }

    /// Makes a text: `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = value.templateValue
    }

    /// Makes no value.
    public init(nilLiteral: ()) {
        self = .undefined
    }
}

extension URITemplate.Value: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a list; members that are nil are left out.
    public init(arrayLiteral elements: (any Query.ValueConvertible)?...) {
        self = .list(elements.compactMap { $0?.queryValue })
    }

    /// Makes pairs, in their order; those whose value is nil are left out.
    public init(dictionaryLiteral elements: (String, (any Query.ValueConvertible)?)...) {
        self = .pairs(URITemplate.Pairs(elements))
    }
}

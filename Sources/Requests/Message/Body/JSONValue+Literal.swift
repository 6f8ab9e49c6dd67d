// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// JSON as a Swift literal, which may contain values that are known only at run time.
    ///
    /// Objects, arrays, strings, numbers, Boolean values and `nil` are Swift literals, nested to any depth. Wrap any
    /// other value, such as a variable, an expression or an `Encodable` value, in ``value(_:)``:
    ///
    /// ```swift
    /// request.body = .json(["model": .value(model), "options": ["role": "user", "n": 3, "stop": nil], "tags": []])
    /// ```
    ///
    /// The names in an object must be unique. If a name is repeated, the request fails with the code `encoding`,
    /// whereas a literal of a Swift `Dictionary` would trap. Names are encoded unchanged, because the key strategy of
    /// an encoder applies only to the keys of `Encodable` types.
    public struct Literal: Sendable {
        /// The value to encode; `nil` is null.
        private let content: (any Encodable & Sendable)?

        private init(_ content: (any Encodable & Sendable)?) { self.content = content }

        /// Creates an object from members whose values are any `Encodable` values rather than `Literal`s.
        package init(_ members: Members) {
            content = Object(members: members.map { ($0, Literal($1)) })
        }

        var isNull: Bool { content == nil }

        /// Wraps a value for use in a literal, such as a variable, an expression, or any `Encodable` value.
        ///
        /// - Parameter value: The value, which the body's encoder encodes; `nil` becomes null.
        /// - Returns: The value, for use within a literal.
        public static func value(_ value: (any Encodable & Sendable)?) -> Literal { Literal(value) }
    }

    /// The members of an object, as a dictionary literal with values of any `Encodable` types.
    ///
    /// If a value is itself an object or array literal, use ``Literal`` instead.
    public typealias Members = KeyValuePairs<String, (any Encodable & Sendable)?>

    /// An object literal that keeps all its members, including members with the same name.
    private struct Object: Sendable, Encodable {
        let members: [(String, Literal)]

        func encode(to encoder: any Encoder) throws {
            var values: [String: Literal] = [:]
            for (name, value) in members {
                guard values.updateValue(value, forKey: name) == nil else {
                    let error = InvalidValue(.body, "has two members named “\(name.shortened())” in one object")
                    throw EncodingError.invalidValue(
                        name,
                        .init(codingPath: encoder.codingPath, debugDescription: error.reason, underlyingError: error)
                    )
                }
            }
            // Encode a dictionary rather than a keyed container, because key strategies don't change the keys of a
            // dictionary.
            var container = encoder.singleValueContainer()
            try container.encode(values)
        }
    }
}

extension JSONValue.Literal: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates null.
    public init(nilLiteral: ()) { self = .value(nil) }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self.init(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue.Literal...) { self.init(elements) }
    /// Creates an object, whose names must be unique.
    public init(dictionaryLiteral elements: (String, JSONValue.Literal)...) {
        self.init(JSONValue.Object(members: elements))
    }
}

extension JSONValue.Literal: Encodable {
    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if an object repeats a name, or any error that a value or the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        // Let the container encode the value, because the encoder handles some types itself, such as dates.
        var container = encoder.singleValueContainer()
        guard let content else { return try container.encodeNil() }
        try container.encode(content)
    }
}

extension JSONValue.Literal: DescribedMirror {
    /// The names of the members, the number of elements, or the type of the value, but no values, which may be secrets.
    public var description: String {
        switch content {
        case let object as JSONValue.Object:
            object.members.map { $0.0.shortened() }.sorted().joined(separator: ", ")
        case let elements as [JSONValue.Literal]: "\(elements.count) elements"
        case let content?: "\(type(of: content))"
        case nil: "null"
        }
    }
}

// MARK: - Names of other libraries

extension JSONValue.Literal {
    /// Unavailable; points users of other libraries to ``value(_:)``.
    @available(*, unavailable, renamed: "value(_:)")
    public static func string(_ value: String?) -> Self { .value(value) }

    /// Unavailable; points users of other libraries to ``value(_:)``.
    @available(*, unavailable, renamed: "value(_:)")
    public static func number(_ value: (any Encodable & Sendable)?) -> Self { .value(value) }
}

extension JSONValue {
    /// Unavailable; points users of other libraries to ``integer(_:)`` and ``double(_:)``.
    @available(*, unavailable, message: "use .integer(3) or .double(2.5), or write 3 or 2.5 in a literal")
    public static func number(_ value: Double) -> JSONValue { .double(value) }
}

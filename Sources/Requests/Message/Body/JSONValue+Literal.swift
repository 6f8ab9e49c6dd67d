// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// JSON as it is written in code, with values that are known only at run time.
    ///
    /// Objects, arrays and plain values are Swift literals, nested as you like. Everything else, such as a variable, an
    /// expression or an `Encodable` value of your own, is in ``value(_:)``:
    ///
    /// ```swift
    /// request.body = .json(["model": .value(model), "options": ["role": "user", "n": 3, "stop": nil], "tags": []])
    /// ```
    ///
    /// The names of an object must differ. If two are equal, the request fails with the code `encoding`, whereas a
    /// literal of a Swift `Dictionary` would end the process. Names are written unchanged: an encoder's key strategy
    /// applies to the keys of your types, but not to these.
    public struct Literal: Sendable {
        /// What is encoded; `nil` is null.
        private let content: (any Encodable & Sendable)?

        private init(_ content: (any Encodable & Sendable)?) { self.content = content }

        /// Creates an object from members without nested literals.
        package init(_ members: Members) {
            content = Object(members: members.map { ($0, Literal($1)) })
        }

        var isNull: Bool { content == nil }

        /// Returns a value that isn't a literal: a variable, an expression, or any `Encodable` value.
        ///
        /// - Parameter value: The value, which the encoder of the body encodes; `nil` becomes null.
        /// - Returns: The value, for use within a literal.
        public static func value(_ value: (any Encodable & Sendable)?) -> Literal { Literal(value) }
    }

    /// The members of an object as a literal, with values of any `Encodable` types.
    ///
    /// A value that is a literal of an object or an array needs a ``Literal`` instead.
    public typealias Members = KeyValuePairs<String, (any Encodable & Sendable)?>

    /// An object of a literal, which still has all its members.
    private struct Object: Sendable, Encodable {
        let members: [(String, Literal)]

        func encode(to encoder: any Encoder) throws {
            var values: [String: Literal] = [:]
            for (name, value) in members {
                guard values.updateValue(value, forKey: name) == nil else {
                    let error = InvalidValue(.body, "has two members “\(name.shortened())” in one object")
                    throw EncodingError.invalidValue(
                        name,
                        .init(codingPath: encoder.codingPath, debugDescription: error.reason, underlyingError: error)
                    )
                }
            }
            // A dictionary rather than a keyed container: strategies that rename keys leave its keys alone.
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
    /// Creates an object, whose names must differ.
    public init(dictionaryLiteral elements: (String, JSONValue.Literal)...) {
        self.init(JSONValue.Object(members: elements))
    }
}

extension JSONValue.Literal: Encodable {
    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if two names of an object are equal, or any error that a value or the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        // The container encodes the value, so that the encoder sees types that it handles itself, such as dates.
        var container = encoder.singleValueContainer()
        guard let content else { return try container.encodeNil() }
        try container.encode(content)
    }
}

extension JSONValue.Literal: DescribedMirror {
    /// The kind of the value; the values may be secrets.
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
    /// Refuses the name of another library.
    @available(*, unavailable, renamed: "value(_:)")
    public static func string(_ value: String?) -> Self { .value(value) }

    /// Refuses the name of another library.
    @available(*, unavailable, renamed: "value(_:)")
    public static func number(_ value: (any Encodable & Sendable)?) -> Self { .value(value) }
}

extension JSONValue {
    /// Refuses the name of another library.
    @available(*, unavailable, message: "write .integer(3) or .double(2.5); in a literal, 3 or 2.5")
    public static func number(_ value: Double) -> JSONValue { .double(value) }
}

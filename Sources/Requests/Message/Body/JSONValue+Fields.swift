// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// The members of an object of JSON as they are written in the source, with values of any `Encodable` type.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// Names may be equal, also such as are known only at run time: the last one counts. Write `as JSONValue.Fields` behind
    /// a literal that is the value of another one, since Swift takes that for a `Dictionary`, and ends the process if two of
    /// its names are equal.
    ///
    /// Names are written as they are: what an encoder does to the keys of your types it doesn't do to these.
    public struct Fields: Sendable, Encodable, ExpressibleByDictionaryLiteral {
        private let values: [String: Field]

        /// Makes an object; nil becomes null, and of members of the same name the last one counts.
        public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
            values = Dictionary(elements.map { ($0, Field(value: $1)) }) { $1 }
        }

        init(_ objects: KeyValuePairs<String, Fields?>) {
            values = Dictionary(objects.map { ($0.key, Field(value: $0.value)) }) { $1 }
        }

        /// Encodes an object.
        ///
        /// - Throws: What the values and the encoder throw.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(values)
        }
    }

    /// A value that goes through the container, so that the encoder sees what it treats in its own way, as dates.
    private struct Field: Sendable, Encodable {
        let value: (any Encodable & Sendable)?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            guard let value else { return try container.encodeNil() }
            try container.encode(value)
        }
    }
}

extension JSONValue.Fields: CustomStringConvertible, CustomReflectable {
    /// The names; the values may be secrets.
    public var description: String { values.keys.sorted().map { $0.shortened() }.joined(separator: ", ") }

    /// A mirror of the names.
    public var customMirror: Mirror { Mirror(self, children: ["names": description]) }
}

// MARK: - Bodies

// Swift makes a `Dictionary` of a literal wherever it may choose, and that ends the process over equal names. It chooses
// by how many declarations of an expression are disfavored: those below that are by one, for values of one's own; those
// for JSON in literals by none; what takes any value by two, the property and its call.

extension HTTPBody {
    /// An object of JSON as it is written here, with values of any `Encodable` type.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// - Parameters:
    ///   - fields: The literal; of members of the same name the last one counts. A literal within it is a `Dictionary`,
    ///     whose names have to differ, unless it says `as JSONValue.Fields`.
    ///   - encoder: What encodes it; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ fields: JSONValue.Fields, encoder: JSONEncoder? = nil) -> HTTPBody {
        json.encode(fields, by: encoder)
    }

    /// An array of objects of JSON as it is written here, with values of any `Encodable` type.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name the last one counts.
    ///   - encoder: What encodes it; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ objects: [JSONValue.Fields], encoder: JSONEncoder? = nil) -> HTTPBody {
        json.encode(objects, by: encoder)
    }

    /// An object of objects of JSON as it is written here, with values of any `Encodable` type.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name the last one counts.
    ///   - encoder: What encodes it; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(
        _ objects: KeyValuePairs<String, JSONValue.Fields?>,
        encoder: JSONEncoder? = nil
    ) -> HTTPBody {
        json.encode(JSONValue.Fields(objects), by: encoder)
    }

    /// An array of objects of JSON as it is written here, with values that are known at run time.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name the last one counts.
    ///   - encoder: What encodes it; nil, the default, is an encoder that sorts the keys.
    /// - Returns: The body.
    public static func json(_ objects: [JSONValue.Members], encoder: JSONEncoder? = nil) -> HTTPBody {
        let value = JSONValue.array(objects.map(\.jsonValue))
        return encoder.map { json(value, encoder: $0) } ?? json(value)
    }

    /// An object of objects of JSON as it is written here, with values that are known at run time.
    ///
    /// ```swift
    /// request.body = .json(["user": ["name": name, "age": age]])
    /// ```
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name the last one counts.
    ///   - encoder: What encodes it; nil, the default, is an encoder that sorts the keys.
    /// - Returns: The body.
    public static func json(
        _ objects: KeyValuePairs<String, JSONValue.Members?>,
        encoder: JSONEncoder? = nil
    ) -> HTTPBody {
        let value = JSONValue.object(Dictionary(objects.map { ($0.key, $0.value?.jsonValue ?? .null) }) { $1 })
        return encoder.map { json(value, encoder: $0) } ?? json(value)
    }
}

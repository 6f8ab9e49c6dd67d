// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// The members of a JSON object as a literal, with values of any `Encodable` type.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// Names may be equal, even if they are known only at run time: the last one counts. Write `as JSONValue.Fields`
    /// behind a literal that is the value of another one. Otherwise Swift takes it for a `Dictionary`, and ends the
    /// process if two of its names are equal.
    ///
    /// Names are written unchanged: an encoder's key strategy applies to the keys of your types, but not to these.
    public struct Fields: Sendable, Encodable, ExpressibleByDictionaryLiteral {
        private let values: [String: Field]

        /// Makes an object; `nil` becomes null, and of members of the same name, the last one counts.
        public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
            values = Dictionary(elements.map { ($0, Field(value: $1)) }) { $1 }
        }

        init(_ objects: KeyValuePairs<String, Fields?>) {
            values = Dictionary(objects.map { ($0.key, Field(value: $0.value)) }) { $1 }
        }

        /// Encodes an object.
        ///
        /// - Throws: Any error that the values or the encoder throw.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(values)
        }
    }

    /// A value that is encoded by the container, so that the encoder sees types that it handles itself, such as dates.
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

// If Swift has a choice, it makes a `Dictionary` of a literal, which ends the process over equal names. It chooses by
// the number of disfavored declarations in an expression. Those below for values of one's own have one; those for JSON
// literals none; the one for any value has two, the property and its call.

extension HTTPBody {
    /// A JSON object as a literal, with values of any `Encodable` type.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// - Parameters:
    ///   - fields: The literal; of members of the same name, the last one counts. A literal within it is a
    ///     `Dictionary`, whose keys have to differ, unless it says `as JSONValue.Fields`.
    ///   - encoder: The encoder; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ fields: JSONValue.Fields, encoder: JSONEncoder? = nil) -> HTTPBody {
        json.encode(fields, by: encoder)
    }

    /// An array of JSON objects as a literal, with values of any `Encodable` type.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name, the last one counts.
    ///   - encoder: The encoder; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ objects: [JSONValue.Fields], encoder: JSONEncoder? = nil) -> HTTPBody {
        json.encode(objects, by: encoder)
    }

    /// A JSON object of objects as a literal, with values of any `Encodable` type.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name, the last one counts.
    ///   - encoder: The encoder; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(
        _ objects: KeyValuePairs<String, JSONValue.Fields?>,
        encoder: JSONEncoder? = nil
    ) -> HTTPBody {
        json.encode(JSONValue.Fields(objects), by: encoder)
    }

    /// An array of JSON objects as a literal, with values that are known at run time.
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name, the last one counts.
    ///   - encoder: The encoder; `nil`, the default, is an encoder that sorts the keys.
    /// - Returns: The body.
    public static func json(_ objects: [JSONValue.Members], encoder: JSONEncoder? = nil) -> HTTPBody {
        let value = JSONValue.array(objects.map(\.jsonValue))
        return encoder.map { json(value, encoder: $0) } ?? json(value)
    }

    /// A JSON object of objects as a literal, with values that are known at run time.
    ///
    /// ```swift
    /// request.body = .json(["user": ["name": name, "age": age]])
    /// ```
    ///
    /// - Parameters:
    ///   - objects: The literal; of members of the same name, the last one counts.
    ///   - encoder: The encoder; `nil`, the default, is an encoder that sorts the keys.
    /// - Returns: The body.
    public static func json(
        _ objects: KeyValuePairs<String, JSONValue.Members?>,
        encoder: JSONEncoder? = nil
    ) -> HTTPBody {
        let value = JSONValue.object(Dictionary(objects.map { ($0.key, $0.value?.jsonValue ?? .null) }) { $1 })
        return encoder.map { json(value, encoder: $0) } ?? json(value)
    }
}

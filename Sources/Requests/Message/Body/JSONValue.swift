// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Any JSON value, as a `Sendable` type.
///
/// JSON values can be written as literals, and read with subscripts:
///
/// ```swift
/// let value: JSONValue = ["name": "Pancakes", "eggs": 2, "tags": ["sweet", nil]]
/// value["tags"]?[0]       // .string("sweet")
/// ```
///
/// 64-bit integers are exact, even if a `Double` couldn't represent them. Larger integers become the nearest `Double`.
/// The members of an object have no order (RFC 8259, 4), so the encoder determines the order in which they are encoded.
public enum JSONValue: Sendable, Hashable {
    /// Null.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// An integer that fits into 64 bits.
    case integer(Int64)
    /// Any other number; infinity and NaN can't be encoded.
    case double(Double)
    /// A string.
    case string(String)
    /// An array of values.
    case array([JSONValue])
    /// An object, that is, values by name.
    case object([String: JSONValue])

    /// The maximum nesting depth of arrays and objects, for encoding and decoding.
    ///
    /// The limit protects not only the stack. `init(from:)` finds the type of a value by trial and error. Each failed
    /// trial reports the coding path, so Foundation's decoder takes time that is quadratic in the depth. At the 512
    /// levels that Foundation allows, a few kilobytes of input took a minute.
    static let maximumDepth = 64

    /// The member of an object; `nil` if the object has no member with the name, or if the value isn't an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The element of an array; `nil` if the index is out of range, or if the value isn't an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object; if a name is repeated, its last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, with members sorted by name.
    ///
    /// Secrets aren't redacted here, because the library redacts content only when logging it. Infinity and NaN become
    /// the strings `inf`, `-inf` and `nan`, because JSON can't represent them. If the value is nested deeper than 64
    /// levels, and so can't be encoded, the description is `…`.
    public var description: String {
        let serialized = serialized
        return serialized.isEmpty ? "…" : String(decoding: serialized, as: UTF8.self)
    }
}

// MARK: - Codable

extension JSONValue: Codable {
    /// Decodes any value.
    ///
    /// - Throws: `DecodingError` if the input isn't JSON, or if it is nested deeper than 64 levels. The depth is
    ///   limited because the stack is limited, and the sender of the input must not be able to exhaust it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Try the most frequent types first, because a failed trial is much slower than a successful one.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Double.self) {
            // JSON has no such numbers, so the decoder must have converted a string, according to its strategy for
            // non-conforming floats.
            guard value.isFinite else {
                self = .string(try container.decode(String.self))
                return
            }
            // Decode the integer separately, because above 2⁵³, converting the double could give a different integer.
            let integer = value.rounded() == value ? try? container.decode(Int64.self) : nil
            self = integer.map(JSONValue.integer) ?? .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else {
            try Self.checkDepth(of: decoder)
            self = try Self.decodeContainer(from: decoder)
        }
    }

    private static func decodeContainer(from decoder: any Decoder) throws -> JSONValue {
        if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            return .array(values)
        }
        // Decode a dictionary rather than a keyed container, because key strategies don't change the keys of a
        // dictionary.
        return .object(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if a number isn't finite, or if the value is nested deeper than 64 levels.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements):
            try checkDepth(of: encoder)
            try container.encode(elements)
        case .object(let members):
            try checkDepth(of: encoder)
            try container.encode(members)
        }
    }

    private static func checkDepth(of decoder: any Decoder) throws {
        guard decoder.codingPath.count >= maximumDepth else { return }
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "nested too deeply"))
    }

    private func checkDepth(of encoder: any Encoder) throws {
        guard encoder.codingPath.count >= Self.maximumDepth else { return }
        throw EncodingError.invalidValue(JSONValue.null, .init(codingPath: [], debugDescription: "nested too deeply"))
    }
}

// MARK: - JSON

extension JSONValue {
    /// The value as JSON, with members sorted by name, and with infinity and NaN as strings.
    ///
    /// The data is empty if the value is nested deeper than 64 levels.
    package var serialized: Data { encoded([]) }

    /// The value as JSON like ``serialized``, but with each member and element on a separate line.
    package var indented: Data { encoded(.prettyPrinted) + Data("\n".utf8) }

    private func encoded(_ formatting: JSONEncoder.OutputFormatting) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return (try? encoder.encode(self)) ?? Data()
    }
}

extension HTTPBody {
    /// Creates a body with a value that is encoded as JSON.
    ///
    /// ```swift
    /// request.body = .json(Recipe(name: "Pancakes"))      // {"name":"Pancakes"}
    /// ```
    ///
    /// If the encoder throws an error, the request fails with the code `encoding`.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder; by default the encoder of the environment. If the environment has none, an encoder
    ///     that sorts keys is used, so that equal values give equal bytes.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        json(encoding: value, encoder)
    }

    /// Creates a JSON body from a nested literal, which may contain values that are known only at run time.
    ///
    /// ```swift
    /// request.body = .json(["model": .value(model), "options": ["role": "user", "n": 3, "stop": nil], "tags": []])
    /// ```
    ///
    /// - Parameters:
    ///   - literal: The literal. Wrap values that aren't literals in ``JSONValue/Literal/value(_:)``. If an object
    ///     repeats a name, the request fails with the code `encoding`.
    ///   - encoder: The encoder. The overload without this parameter uses the encoder of the environment, or one that
    ///     sorts keys.
    /// - Returns: The body.
    public static func json(_ literal: JSONValue.Literal, encoder: JSONEncoder) -> HTTPBody {
        json(encoding: literal, encoder)
    }

    /// Creates a JSON body from a nested literal, which is encoded by the encoder of the environment.
    ///
    /// If the environment has no encoder, one that sorts keys is used. For the literal, see
    /// ``json(_:encoder:)-(JSONValue.Literal,_)``.
    public static func json(_ literal: JSONValue.Literal) -> HTTPBody { json(encoding: literal, nil) }

    /// Creates a body with a JSON object from a literal whose values have any `Encodable` types.
    ///
    /// The values can't be literals of objects or arrays. For nested literals, use ``JSONValue/Literal``.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// - Parameters:
    ///   - members: The members. If a name is repeated, the request fails with the code `encoding`.
    ///   - encoder: The encoder; by default the encoder of the environment. If the environment has none, an encoder
    ///     that sorts keys is used.
    /// - Returns: The body.
    public static func json(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> HTTPBody {
        json(encoding: JSONValue.Literal(members), encoder)
    }

    /// Unavailable for a literal with values of different types, and for a dictionary whose values have the type `Any`.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .json(["a": .value(x), "b": ["c": 1]]); \
            for a [String: Any], use .jsonObject
            """
    )
    public static func json(_ object: [String: Any?], encoder: JSONEncoder? = nil) -> HTTPBody { .none }

    /// Unavailable for a literal with values of different types, and for an array whose elements have the type `Any`.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .json([["a": .value(x)], 1]); for an [Any], use .jsonObject
            """
    )
    public static func json(_ elements: [Any?], encoder: JSONEncoder? = nil) -> HTTPBody { .none }

    /// Creates a JSON body from a Foundation object that `JSONSerialization` supports.
    ///
    /// The object is encoded immediately, because a value of type `Any` isn't `Sendable`. For literals, prefer
    /// ``json(_:)``, which accepts values of mixed types and needs no `try`.
    ///
    /// - Parameters:
    ///   - object: An array or a dictionary, or, with the option `fragmentsAllowed`, any JSON value. A dictionary
    ///     literal is a `Dictionary` here, so its keys must be unique.
    ///   - options: The writing options; sorted keys by default.
    /// - Returns: The body.
    /// - Throws: ``InvalidValue`` if the object can't be represented as JSON, or if it is nested deeper than 512
    ///   levels.
    public static func jsonObject(
        _ object: Any,
        options: JSONSerialization.WritingOptions = [.sortedKeys]
    ) throws -> HTTPBody {
        // Check first, because on some platforms, `JSONSerialization` crashes for an invalid or too deeply nested
        // object.
        guard isShallow(object) else { throw InvalidValue(.body, "is nested too deeply for JSON") }
        let isFragment = options.contains(.fragmentsAllowed)
        guard JSONSerialization.isValidJSONObject(isFragment ? [object] : object) else {
            throw InvalidValue(.body, "can't be encoded as JSON", excerpt: "\(type(of: object))")
        }
        return HTTPBody(
            .data(try JSONSerialization.data(withJSONObject: object, options: options)),
            headers: jsonHeaders
        )
    }

    private static func json(encoding value: some Encodable & Sendable, _ encoder: JSONEncoder?) -> HTTPBody {
        HTTPBody(
            headers: jsonHeaders,
            source: value,
            encodingJSON: { inherited in try (encoder ?? inherited ?? sortingEncoder).encode(value) }
        )
    }

    private static let jsonHeaders: HTTPHeaders = [.contentType: MediaType.json.rawValue]

    /// An encoder that sorts keys, so that equal values give equal bytes.
    package static let sortingEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    private static func isShallow(_ object: Any) -> Bool {
        var level = [object]
        for _ in 0...512 {
            level = level.flatMap { value -> [Any] in
                if let array = value as? [Any] { return array }
                return (value as? [String: Any]).map { Array($0.values) } ?? []
            }
            if level.isEmpty { return true }
        }
        return false
    }
}

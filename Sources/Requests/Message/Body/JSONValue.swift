// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Any JSON, as a sendable value.
///
/// It is written as literals, and read with subscripts:
///
/// ```swift
/// let value: JSONValue = ["name": "Pancakes", "eggs": 2, "tags": ["sweet", nil]]
/// value["tags"]?[0]       // .string("sweet")
/// ```
///
/// Integers of 64 bits stay exact, also where they are too large for a double; larger ones become the nearest double.
/// The members of an object have no order (RFC 8259, 4), and the encoder decides in which they are written.
public enum JSONValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A number without a fraction.
    case integer(Int64)
    /// A number of any other kind; one that isn't finite can't be encoded.
    case double(Double)
    /// A text.
    case string(String)
    /// A list of values.
    case array([JSONValue])
    /// Values by name.
    case object([String: JSONValue])

    /// The maximum nesting of arrays and objects, for encoding and decoding.
    ///
    /// It protects more than the stack. A decoder finds the kind of a value by trying, and each try that fails reports
    /// the path to the value, which costs Foundation's decoder the square of its length. At the 512 levels that
    /// Foundation would allow, a few kilobytes of input took a minute.
    static let maximumDepth = 64

    /// The member of an object; `nil` if the object has no member of that name, or the value isn't an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The element of an array; `nil` if the index is out of range, or the value isn't an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes null.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Makes an object; of members of the same name, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, with members in the order of their names.
    ///
    /// Secrets are not redacted. The library redacts content where it logs it. Infinity and NaN, which JSON doesn't
    /// have, are written as strings; a value that is nested deeper than 64 levels, which can't be encoded either, is
    /// `…`.
    public var description: String {
        let serialized = serialized
        return serialized.isEmpty ? "…" : String(decoding: serialized, as: UTF8.self)
    }
}

// MARK: - Codable

extension JSONValue: Codable {
    /// Decodes any value.
    ///
    /// - Throws: `DecodingError` if the input isn't JSON, or is nested deeper than 64 levels: the stack is limited, and
    ///   the sender of the input would otherwise choose the depth.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent kinds first: a try that fails costs far more than one that succeeds.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Double.self) {
            // JSON has no such number: a decoder with a strategy for them has made it of a text.
            guard value.isFinite else {
                self = .string(try container.decode(String.self))
                return
            }
            // The double only shows whether the number may be an integer; beyond 2⁵³ the two aren't the same number.
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
        // A dictionary rather than a keyed container: strategies that rename keys leave its keys alone.
        return .object(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if a number isn't finite, or the value is nested deeper than 64 levels.
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
    /// The value as JSON, with members in the order of their names; infinities and NaN, which JSON doesn't have, as
    /// texts.
    ///
    /// It is empty if the value is nested deeper than 64 levels.
    package var serialized: Data { encoded([]) }

    /// The value as JSON like ``serialized``, with a line for each member and element.
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
    /// A value as JSON.
    ///
    /// ```swift
    /// request.body = .json(Recipe(name: "Pancakes"))      // {"name":"Pancakes"}
    /// ```
    ///
    /// An error that the encoder throws becomes the error of the request, with the code `encoding`.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder; by default the one of the environment, or else one that sorts the keys, so that
    ///     equal values give equal bytes.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        json(encoding: value, encoder)
    }

    /// JSON as a literal: nested, of any mixture of kinds, and with values that are known at run time.
    ///
    /// ```swift
    /// request.body = .json(["model": .value(model), "options": ["role": "user", "n": 3, "stop": nil], "tags": []])
    /// ```
    ///
    /// - Parameters:
    ///   - literal: The literal; values that aren't literals are in ``JSONValue/Literal/value(_:)``. Two equal names in
    ///     an object are an error of the request, with the code `encoding`.
    ///   - encoder: The encoder; without one, it is that of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    public static func json(_ literal: JSONValue.Literal, encoder: JSONEncoder) -> HTTPBody {
        json(encoding: literal, encoder)
    }

    /// JSON as a literal, as ``json(_:encoder:)-(JSONValue.Literal,_)``, encoded by the encoder of the environment.
    public static func json(_ literal: JSONValue.Literal) -> HTTPBody { json(encoding: literal, nil) }

    /// A JSON object as a literal without nested literals, with values of any `Encodable` types.
    ///
    /// ```swift
    /// request.body = .json(["owner": user, "recipes": recipes, "isPublic": true])
    /// ```
    ///
    /// - Parameters:
    ///   - members: The members. Two equal names are an error of the request, with the code `encoding`.
    ///   - encoder: The encoder; by default the one of the environment, or else one that sorts the keys.
    /// - Returns: The body.
    public static func json(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> HTTPBody {
        json(encoding: JSONValue.Literal(members), encoder)
    }

    /// Refuses a literal of values of different types, or a dictionary of any values.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .json(["a": .value(x), "b": ["c": 1]]); \
            for a [String: Any], .jsonObject
            """
    )
    public static func json(_ object: [String: Any?], encoder: JSONEncoder? = nil) -> HTTPBody { .none }

    /// Refuses a literal of values of different types, or an array of any values.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .json([["a": .value(x)], 1]); for an [Any], .jsonObject
            """
    )
    public static func json(_ elements: [Any?], encoder: JSONEncoder? = nil) -> HTTPBody { .none }

    /// An object of Foundation, as `JSONSerialization` takes it, as JSON.
    ///
    /// It is encoded at once, since a value of any type isn't sendable. ``json(_:)`` takes literals of any mixture and
    /// needs no `try`.
    ///
    /// - Parameters:
    ///   - object: An array or a dictionary; with the option `fragmentsAllowed` any JSON value. A literal is a
    ///     `Dictionary`, whose keys have to differ.
    ///   - options: The writing options; sorted keys by default.
    /// - Returns: The body.
    /// - Throws: ``InvalidValue`` if the object can't be written as JSON, or is nested deeper than 512 levels.
    public static func jsonObject(
        _ object: Any,
        options: JSONSerialization.WritingOptions = [.sortedKeys]
    ) throws -> HTTPBody {
        // On some platforms, an object that `JSONSerialization` rejects ends the process, as does one that is nested
        // too deeply.
        guard isShallow(object) else { throw InvalidValue(.body, "is nested too deeply for JSON") }
        let isFragment = options.contains(.fragmentsAllowed)
        guard JSONSerialization.isValidJSONObject(isFragment ? [object] : object) else {
            throw InvalidValue(.body, "can't be written as JSON", excerpt: "\(type(of: object))")
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

    /// An encoder that always makes the same bytes from the same value.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes a value of a response: the decoding of a request as a value.
///
/// The built-in ones are static members: `.json`, `.text`, `.data`, `.none`, `.jsonObject`, `.json(_:atKeyPath:)`. One
/// of your own is a closure, which also gets the status and the headers. As a static member, it is used like a built-in
/// one:
///
/// ```swift
/// extension ResponseDecoder<Image> {
///     static let image = ResponseDecoder(accepting: [.png]) { try Image(png: $0.body) }
/// }
/// ```
///
/// It is called only for acceptable responses: any other status has failed the request before.
public struct ResponseDecoder<Value: Sendable>: Sendable {
    /// The types that the decoder reads, which a request sends as `Accept` unless it has its own; empty for any type.
    public var accepted: [MediaType]
    private let make: @Sendable (HTTPResponse<Data>) throws -> Value

    /// Makes a decoder of a closure.
    ///
    /// - Parameters:
    ///   - accepted: The types that it reads; by default any.
    ///   - decode: Makes the value. Called on a thread that may be blocked; an error that it throws is the failure of
    ///     the request.
    public init(
        accepting accepted: [MediaType] = [],
        _ decode: @escaping @Sendable (HTTPResponse<Data>) throws -> Value
    ) {
        self.accepted = accepted
        make = decode
    }

    /// Makes the value of a response.
    ///
    /// - Throws: Any error that the decoder throws.
    public func decode(_ response: HTTPResponse<Data>) throws -> Value {
        try make(response)
    }

    /// Returns a decoder that makes another value from this one's.
    ///
    /// - Throws: Any error that `transform` throws, as the failure of the request.
    public func map<NewValue>(
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> ResponseDecoder<NewValue> {
        ResponseDecoder<NewValue>(accepting: accepted) { try transform(decode($0)) }
    }
}

// MARK: - Built in

extension ResponseDecoder where Value == Void {
    /// Ignores the content.
    public static var none: ResponseDecoder { ResponseDecoder { _ in } }
}

extension ResponseDecoder where Value == Data {
    /// Returns the content unchanged.
    public static var data: ResponseDecoder { ResponseDecoder { $0.body } }
}

extension ResponseDecoder where Value == HTTPResponse<Data> {
    /// Returns the whole response.
    public static var response: ResponseDecoder { ResponseDecoder { $0 } }
}

extension ResponseDecoder where Value == String {
    /// Text in the charset that the response names, or else in UTF-8.
    ///
    /// Content that isn't text in that charset is an error of code `decoding`; so is a charset that the platform
    /// doesn't know.
    public static var text: ResponseDecoder { ResponseDecoder { try $0.text() } }

    /// Text in a given encoding, whatever the response says.
    public static func text(encoding: String.Encoding) -> ResponseDecoder {
        ResponseDecoder { try $0.text(encoding: encoding) }
    }
}

extension ResponseDecoder where Value == JSONValue {
    /// JSON of any shape.
    public static var jsonObject: ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { try $0.jsonDecoder.decode(JSONValue.self, from: $0) }
    }
}

extension ResponseDecoder where Value: Decodable {
    /// JSON, decoded with the decoder of the environment.
    ///
    /// Empty content is an error of code `emptyResponse`, unless the value is an optional, which is then `nil`.
    public static var json: ResponseDecoder { json() }

    /// JSON, or the part of it at a path of keys, such as `data.user`.
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - keyPath: The keys from the outside in, separated by dots; a number is an index into an array. `nil`, the
    ///     default, is the whole.
    ///   - decoder: Makes a decoder for each response; `nil`, the default, is the decoder of the environment.
    /// - Returns: The decoder.
    public static func json(
        _ type: Value.Type = Value.self,
        atKeyPath keyPath: String? = nil,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ResponseDecoder {
        ResponseDecoder(accepting: [.json]) {
            try (decoder() ?? $0.jsonDecoder).decode(type, from: $0, atKeyPath: keyPath)
        }
    }

    /// JSON, as ``json(_:atKeyPath:decoder:)``, for calls that read better with the label `encoded`.
    public static func json(
        encoded type: Value.Type,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ResponseDecoder {
        json(type, decoder: decoder())
    }

    /// A value decoded with a decoder of your choice: a property list, or a format of your own.
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - decoder: Makes a decoder for each response.
    ///   - keyPath: The keys of the part to decode, from the outside in, separated by dots; `nil`, the default, is the
    ///     whole.
    /// - Returns: The decoder.
    public static func decoded(
        _ type: Value.Type = Value.self,
        by decoder: @autoclosure @escaping @Sendable () -> any BodyDecoder,
        atKeyPath keyPath: String? = nil
    ) -> ResponseDecoder {
        ResponseDecoder(accepting: decoder().accepted) { try decoder().decode(type, from: $0, atKeyPath: keyPath) }
    }

    /// A property list, in XML or in its binary form.
    public static var propertyList: ResponseDecoder { decoded(by: PropertyListDecoder()) }
}

extension ResponseDecoder where Value: HTTPDecodableResponse {
    /// The type's own decoding.
    public static var custom: ResponseDecoder { ResponseDecoder { try Value.decode($0) } }
}

/// A value inside a JSON document: it is decoded along a path of keys, without copying other parts.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Self.value(at: NestedPath.current[...], in: decoder)
    }

    private static func value(at path: ArraySlice<String>, in decoder: any Decoder) throws -> Value {
        // Types that the decoder treats specially, such as dates, have to be decoded from a container.
        guard let first = path.first else { return try Value(from: decoder) }
        if let index = Int(first), index >= 0, var array = try? decoder.unkeyedContainer() {
            while !array.isAtEnd, array.currentIndex < index { _ = try array.superDecoder() }
            guard path.count > 1 else { return try array.decode(Value.self) }
            return try value(at: path.dropFirst(), in: array.superDecoder())
        }
        let object = try decoder.container(keyedBy: NestedPath.Key.self)
        let key = NestedPath.Key(stringValue: first)
        guard path.count > 1 else { return try object.decode(Value.self, forKey: key) }
        return try value(at: path.dropFirst(), in: object.superDecoder(forKey: key))
    }
}

/// The path of a ``NestedValue``, passed to it through any decoder.
enum NestedPath {
    @TaskLocal static var current: [String] = []

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

// MARK: - Content

extension BodyDecoder {
    /// Decodes the content of a response, or the part of it at a path of keys; empty content makes an optional `nil`.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse` or `notModified`.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse<Data>,
        atKeyPath keyPath: String? = nil
    ) throws -> Value {
        try decode(type, fromContent: response.content(for: type), atKeyPath: keyPath)
    }

    /// Decodes content, or a part of it; content that is empty or blank makes an optional `nil`.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse`.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        fromContent content: Data,
        atKeyPath keyPath: String? = nil
    ) throws -> Value {
        guard !content.isBlank else {
            guard let empty = (type as? any AnyOptional.Type)?.empty as? Value else {
                throw RequestError(.emptyResponse, phase: .decoding)
            }
            return empty
        }
        guard let keyPath, !keyPath.isEmpty else { return try decode(type, from: content) }
        return try NestedPath.$current.withValue(keyPath.split(separator: ".").map(String.init)) {
            try decode(NestedValue<Value>.self, from: content).value
        }
    }
}

extension HTTPResponse<Data> {
    /// The content, of which a value is to be made.
    ///
    /// - Throws: ``RequestError`` of code `notModified` if the response confirms a representation that the caller
    ///   already has, unless the type has a value for empty content.
    func content(for type: Any.Type) throws(RequestError) -> Data {
        guard status == .notModified, body.isEmpty, !(type is any AnyOptional.Type) else { return body }
        throw RequestError(.notModified, phase: .decoding)
    }
}

extension Data {
    /// Whether there is nothing but the blanks of JSON (RFC 8259, 2).
    fileprivate var isBlank: Bool { allSatisfy { " \t\r\n".utf8.contains($0) } }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A decoder for responses, with which a request creates its value.
///
/// The built-in decoders are static members: `.json`, `.text`, `.data`, `.none`, `.jsonObject`, `.json(_:atKeyPath:)`.
/// Create your own from a closure, which also receives the status and the headers. Declare it as a static member to use
/// it like a built-in one:
///
/// ```swift
/// extension ResponseDecoder<Image> {
///     static let image = ResponseDecoder(accepting: [.png]) { try Image(png: $0.body) }
/// }
/// ```
///
/// The decoder is called only for acceptable responses, because a response with any other status has already made the
/// request fail.
public struct ResponseDecoder<Value: Sendable>: Sendable {
    /// The media types that the decoder accepts; empty for any type.
    ///
    /// A request sends them as `Accept`, unless it sets that field itself.
    public var accepted: [MediaType]
    private let make: @Sendable (HTTPResponse<Data>) throws -> Value

    /// Creates a decoder from a closure.
    ///
    /// - Parameters:
    ///   - accepted: The media types that the decoder accepts; any type by default.
    ///   - decode: Decodes the value. The library calls it on a thread that may block. If it throws an error, the
    ///     request fails with that error.
    public init(
        accepting accepted: [MediaType] = [],
        _ decode: @escaping @Sendable (HTTPResponse<Data>) throws -> Value
    ) {
        self.accepted = accepted
        make = decode
    }

    /// Decodes a value from a response.
    ///
    /// - Throws: Any error that the decoder throws.
    public func decode(_ response: HTTPResponse<Data>) throws -> Value {
        try make(response)
    }

    /// Returns a decoder that transforms the value of this decoder.
    ///
    /// - Throws: If `transform` throws an error, the request fails with that error.
    public func map<NewValue>(
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> ResponseDecoder<NewValue> {
        ResponseDecoder<NewValue>(accepting: accepted) { try transform(decode($0)) }
    }
}

// MARK: - Built-in decoders

extension ResponseDecoder where Value == Void {
    /// Ignores the content.
    public static var none: ResponseDecoder { ResponseDecoder { _ in } }
}

extension ResponseDecoder where Value == Data {
    /// Returns the content unchanged.
    public static var data: ResponseDecoder { ResponseDecoder { $0.body } }
}

extension ResponseDecoder where Value == HTTPResponse<Data> {
    /// Returns the entire response.
    public static var response: ResponseDecoder { ResponseDecoder { $0 } }
}

extension ResponseDecoder where Value == String {
    /// Decodes text in the charset that the response declares, or in UTF-8 by default.
    ///
    /// Decoding fails with the code `decoding` if the content isn't valid in that charset, or if the platform doesn't
    /// support the charset.
    public static var text: ResponseDecoder { ResponseDecoder { try $0.text() } }

    /// Decodes text in the given encoding, whatever charset the response declares.
    public static func text(encoding: String.Encoding) -> ResponseDecoder {
        ResponseDecoder { try $0.text(encoding: encoding) }
    }
}

extension ResponseDecoder where Value == JSONValue {
    /// Decodes JSON of any structure.
    public static var jsonObject: ResponseDecoder {
        ResponseDecoder(accepting: [.json]) { try $0.jsonDecoder.decode(JSONValue.self, from: $0) }
    }
}

extension ResponseDecoder where Value: Decodable {
    /// Decodes JSON with the environment's decoder.
    ///
    /// If the content is empty, decoding fails with the code `emptyResponse`, unless the value is an optional, which is
    /// then `nil`.
    public static var json: ResponseDecoder { json() }

    /// Decodes JSON, or the part of it at a key path such as `data.user`.
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - keyPath: The keys from the outermost to the innermost, separated by dots. A number is an array index. `nil`,
    ///     the default, decodes the entire content.
    ///   - decoder: Creates a decoder for each response; `nil`, the default, uses the environment's decoder.
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

    /// Decodes JSON like ``json(_:atKeyPath:decoder:)``, for calls that read better with the label `encoded`.
    public static func json(
        encoded type: Value.Type,
        decoder: @autoclosure @escaping @Sendable () -> JSONDecoder? = nil
    ) -> ResponseDecoder {
        json(type, decoder: decoder())
    }

    /// Decodes a value with a decoder of your choice, such as one for property lists or a custom format.
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - decoder: Creates a decoder for each response.
    ///   - keyPath: The keys of the part to decode, from the outermost to the innermost, separated by dots. `nil`, the
    ///     default, decodes the entire content.
    /// - Returns: The decoder.
    public static func decoded(
        _ type: Value.Type = Value.self,
        by decoder: @autoclosure @escaping @Sendable () -> any BodyDecoder,
        atKeyPath keyPath: String? = nil
    ) -> ResponseDecoder {
        ResponseDecoder(accepting: decoder().accepted) { try decoder().decode(type, from: $0, atKeyPath: keyPath) }
    }

    /// Decodes a property list, in XML or binary format.
    public static var propertyList: ResponseDecoder { decoded(by: PropertyListDecoder()) }
}

extension ResponseDecoder where Value: HTTPDecodableResponse {
    /// Uses the type's own decoding.
    public static var custom: ResponseDecoder { ResponseDecoder { try Value.decode($0) } }
}

/// A value nested in a JSON document, which is decoded along a key path without copying other parts.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Self.value(at: NestedPath.current[...], in: decoder)
    }

    private static func value(at path: ArraySlice<String>, in decoder: any Decoder) throws -> Value {
        // Types that the decoder handles specially, such as dates, must be decoded from a container.
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

/// The key path of a ``NestedValue``.
///
/// A task-local value passes the path through any decoder.
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
    /// Decodes the content of a response, or the part of it at a key path; if the content is empty or blank, an
    /// optional type decodes as `nil`.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` with the code `emptyResponse` or `notModified`.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse<Data>,
        atKeyPath keyPath: String? = nil
    ) throws -> Value {
        try decode(type, fromContent: response.content(for: type), atKeyPath: keyPath)
    }

    /// Decodes content, or the part of it at a key path; if the content is empty or blank, an optional type decodes as
    /// `nil`.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` with the code `emptyResponse`.
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
    /// Returns the content to decode a value from.
    ///
    /// - Throws: A ``RequestError`` with the code `notModified` if the response has no content because it confirms a
    ///   stored representation, unless the type is an optional.
    func content(for type: Any.Type) throws(RequestError) -> Data {
        guard status == .notModified, body.isEmpty, !(type is any AnyOptional.Type) else { return body }
        throw RequestError(.notModified, phase: .decoding)
    }
}

extension Data {
    /// Whether the data consists only of JSON whitespace (RFC 8259, 2).
    fileprivate var isBlank: Bool { allSatisfy { " \t\r\n".utf8.contains($0) } }
}

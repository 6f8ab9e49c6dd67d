// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value somewhere inside a JSON document: decodes by walking down a path of keys, without a copy of what is beside
/// it.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Self.value(at: NestedPath.of(decoder)[...], in: decoder)
    }

    private static func value(at path: ArraySlice<String>, in decoder: any Decoder) throws -> Value {
        // Values that the decoder treats in a way of its own, such as dates, have to be asked a container for, by
        // their type.
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

/// The path of a ``NestedValue``, on its way through the decoder's user info.
enum NestedPath {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static let key = CodingUserInfoKey(rawValue: "Requests.NestedPath")

    static func set(_ path: [String], of decoder: JSONDecoder) {
        if let key { decoder.userInfo[key] = path }
    }

    static func of(_ decoder: any Decoder) -> [String] {
        key.flatMap { decoder.userInfo[$0] as? [String] } ?? []
    }
}

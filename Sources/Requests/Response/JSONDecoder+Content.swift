// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONDecoder {
    /// Decodes the content of a response; an optional takes empty content for nil.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse` or `notModified`.
    func decode<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse<Data>) throws -> Value {
        guard response.isWithoutRepresentation, !type.hasEmptyValue else {
            return try decode(type, fromContent: response.body)
        }
        throw RequestError(.notModified, phase: .decoding)
    }

    /// Decodes content; an optional takes empty content for nil.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse`.
    func decode<Value: Decodable>(_ type: Value.Type, fromContent content: Data) throws -> Value {
        guard content.isEmpty else { return try decode(type, from: content) }
        guard let empty = (type as? any EmptyRepresentable.Type)?.empty as? Value else {
            throw RequestError(.emptyResponse, phase: .decoding)
        }
        return empty
    }
}

extension Decodable {
    /// Whether the type has a value that stands for no content.
    static var hasEmptyValue: Bool { self is any EmptyRepresentable.Type }
}

extension HTTPResponse<Data> {
    /// Whether the response tells a caller that has a representation that it is still the right one.
    var isWithoutRepresentation: Bool { status == .notModified && body.isEmpty }
}

/// A type with a value that stands for no content.
protocol EmptyRepresentable {
    static var empty: Self { get }
}

extension Optional: EmptyRepresentable {
    static var empty: Wrapped? { nil }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Writes values as the content of requests, in one format: an encoder of Foundation's, of a package, or your own.
///
/// ```swift
/// extension YAMLEncoder: BodyEncoder { var contentType: MediaType { "application/yaml" } … }
///
/// Post<User>("users").body(.encoded(user, by: YAMLEncoder()))
/// ```
///
/// The request says the ``contentType`` by itself. `JSONEncoder` and `PropertyListEncoder` are such encoders.
public protocol BodyEncoder {
    /// What the encoder writes.
    var contentType: MediaType { get }

    /// Writes a value.
    ///
    /// - Throws: What keeps it from being written; it is the failure of the request.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Reads values of the content of responses, in one format: a decoder of Foundation's, of a package, or your own.
///
/// ```swift
/// extension YAMLDecoder: BodyDecoder { var accepted: [MediaType] { ["application/yaml"] } … }
///
/// Get<User>("users/\(id)", decoding: .decoded(by: YAMLDecoder()))
/// ```
///
/// The request asks for what is ``accepted`` by itself. A ``DecodableRequest`` takes one as its `decoder`. `JSONDecoder`
/// and `PropertyListDecoder` are such decoders.
public protocol BodyDecoder {
    /// What the decoder reads, best first.
    var accepted: [MediaType] { get }

    /// Reads a value.
    ///
    /// - Throws: What is wrong with the content; it is the failure of the request.
    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value
}

extension JSONEncoder: BodyEncoder {
    /// JSON.
    public var contentType: MediaType { .json }
}

extension JSONDecoder: BodyDecoder {
    /// JSON.
    public var accepted: [MediaType] { [.json] }
}

extension PropertyListEncoder: BodyEncoder {
    /// A property list.
    public var contentType: MediaType { .propertyList }
}

extension PropertyListDecoder: BodyDecoder {
    /// A property list.
    public var accepted: [MediaType] { [.propertyList] }
}

extension HTTPBody {
    /// A value, written by an encoder of your choice, which says what it is.
    ///
    /// ```swift
    /// request.body = .encoded(settings, by: PropertyListEncoder())
    /// ```
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - encoder: Makes the encoder, for each attempt one. What it throws is the error of the request.
    /// - Returns: The body.
    public static func encoded(
        _ value: some Encodable & Sendable,
        by encoder: @autoclosure @escaping @Sendable () -> any BodyEncoder
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: encoder().contentType.rawValue], source: value) {
            .data(try encoder().encode(value))
        }
    }

    /// A value as a property list.
    public static func propertyList(_ value: some Encodable & Sendable) -> HTTPBody {
        .encoded(value, by: PropertyListEncoder())
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An encoder that encodes values as request bodies of one media type.
///
/// `JSONEncoder` and `PropertyListEncoder` conform. You can conform an encoder from another package, or your own:
///
/// ```swift
/// extension YAMLEncoder: BodyEncoder { var contentType: MediaType { "application/yaml" } … }
///
/// Post<User>("users").body(.encoded(user, by: YAMLEncoder()))
/// ```
///
/// The ``contentType`` becomes the `Content-Type` of the request.
public protocol BodyEncoder: SendableMetatype {
    /// The media type of the encoded content.
    var contentType: MediaType { get }

    /// Encodes a value.
    ///
    /// - Throws: Any error; the request fails with it.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
    /// The media type of JSON.
    public var contentType: MediaType { .json }
}

extension JSONDecoder: BodyDecoder {
    /// The media type of JSON.
    public var accepted: [MediaType] { [.json] }
}

extension PropertyListEncoder: BodyEncoder {
    /// The media type of property lists.
    public var contentType: MediaType { .propertyList }
}

extension PropertyListDecoder: BodyDecoder {
    /// The media type of property lists.
    public var accepted: [MediaType] { [.propertyList] }
}

extension HTTPBody {
    /// Creates a body with a value that is encoded by the given encoder, which also determines the media type.
    ///
    /// ```swift
    /// request.body = .encoded(settings, by: PropertyListEncoder())
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: Creates an encoder for each attempt. If the encoder throws an error, the request fails with it.
    /// - Returns: The body.
    public static func encoded(
        _ value: some Encodable & Sendable,
        by encoder: @autoclosure @escaping @Sendable () -> any BodyEncoder
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: encoder().contentType.rawValue], source: value) {
            .data(try encoder().encode(value))
        }
    }

    /// Creates a body with a value that is encoded as a property list.
    public static func propertyList(_ value: some Encodable & Sendable) -> HTTPBody {
        .encoded(value, by: PropertyListEncoder())
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Encodes values as the content of requests, in one format: an encoder of Foundation, of a package, or your own.
///
/// ```swift
/// extension YAMLEncoder: BodyEncoder { var contentType: MediaType { "application/yaml" } … }
///
/// Post<User>("users").body(.encoded(user, by: YAMLEncoder()))
/// ```
///
/// The ``contentType`` is set as the request's type. `JSONEncoder` and `PropertyListEncoder` are such encoders.
public protocol BodyEncoder: SendableMetatype {
    /// The type of the encoded content.
    var contentType: MediaType { get }

    /// Encodes a value.
    ///
    /// - Throws: The failure of the request.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
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
    /// A value, encoded with an encoder of your choice, which also sets the type.
    ///
    /// ```swift
    /// request.body = .encoded(settings, by: PropertyListEncoder())
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: Makes an encoder for each attempt. An error that it throws is the error of the request.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decodes values from the content of responses, in one format: a decoder of Foundation, of a package, or your own.
///
/// ```swift
/// extension YAMLDecoder: BodyDecoder { var accepted: [MediaType] { ["application/yaml"] } … }
///
/// Get<User>("users/\(id)", decoding: .decoded(by: YAMLDecoder()))
/// ```
///
/// The ``accepted`` types are set as the request's `Accept`. A ``DecodableRequest`` may have one as its `decoder`.
/// `JSONDecoder` and `PropertyListDecoder` are such decoders.
public protocol BodyDecoder: SendableMetatype {
    /// The types that the decoder reads, best first.
    var accepted: [MediaType] { get }

    /// Decodes a value.
    ///
    /// - Throws: The failure of the request.
    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value
}

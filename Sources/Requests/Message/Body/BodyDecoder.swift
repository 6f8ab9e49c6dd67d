// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A decoder that decodes values from response bodies of one format.
///
/// `JSONDecoder` and `PropertyListDecoder` conform. You can conform a decoder from another package, or your own:
///
/// ```swift
/// extension YAMLDecoder: BodyDecoder { var accepted: [MediaType] { ["application/yaml"] } … }
///
/// Get<User>("users/\(id)", decoding: .decoded(by: YAMLDecoder()))
/// ```
///
/// The ``accepted`` types become the `Accept` field of the request. The `decoder` of a ``DecodableRequest`` can be any
/// such decoder.
public protocol BodyDecoder: SendableMetatype {
    /// The media types that the decoder can read, most preferred first.
    var accepted: [MediaType] { get }

    /// Decodes a value.
    ///
    /// - Throws: Any error; the request fails with it.
    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value
}

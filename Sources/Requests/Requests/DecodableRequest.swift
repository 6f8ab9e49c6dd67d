// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose content is JSON that decodes to its `Success`.
///
/// ```swift
/// struct RecipeRequest: DecodableRequest {
///     typealias Success = Recipe
///     let recipeID: String
///     var identifier: String { recipeID }
///
///     func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
///         completion(.success(URLRequest(url: recipes.appending(component: recipeID))))
///     }
/// }
/// ```
///
/// Empty content is an error of code `emptyResponse`, unless `Success` is an optional, which it makes nil.
public protocol DecodableRequest: DataRequest where Success: Decodable {
    /// ``DecodableOperation``, unless the request brings a subclass.
    associatedtype OperationType = DecodableOperation<Self>

    /// What decodes the content. By default a new decoder with the strategies below; a request that brings its own need
    /// not state those.
    var decoder: JSONDecoder { get }

    /// How keys become property names; nil, the default, is the decoder's own way.
    var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy? { get }
    /// How dates are read; nil, the default, is the decoder's own way.
    var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy? { get }
    /// How binary data is read; nil, the default, is the decoder's own way.
    var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy? { get }
    /// How infinities and not-a-number are read; nil, the default, is the decoder's own way.
    var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy? { get }
}

extension DecodableRequest {
    /// A new decoder with the strategies of the request.
    public var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        if let keyDecodingStrategy { decoder.keyDecodingStrategy = keyDecodingStrategy }
        if let dateDecodingStrategy { decoder.dateDecodingStrategy = dateDecodingStrategy }
        if let dataDecodingStrategy { decoder.dataDecodingStrategy = dataDecodingStrategy }
        if let nonConformingFloatDecodingStrategy {
            decoder.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        }
        return decoder
    }

    /// The decoder's own way.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy? { nil }
    /// The decoder's own way.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy? { nil }
    /// The decoder's own way.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy? { nil }
    /// The decoder's own way.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy? { nil }

    /// Decodes the content; a response that says "not modified" to a conditional request has none.
    ///
    /// - Throws: What ``processData(_:)`` throws, or a ``RequestError`` of code `notModified`.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        guard response.isWithoutRepresentation, !Success.hasEmptyValue else { return try processData(response.body) }
        throw RequestError(.notModified, phase: .decoding)
    }

    /// Decodes the content.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse`.
    public func processData(_ data: Data) throws -> Success {
        try decoder.decode(Success.self, fromContent: data)
    }
}

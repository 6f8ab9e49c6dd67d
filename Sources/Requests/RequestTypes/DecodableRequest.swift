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
/// Empty content is an error of code `emptyResponse`, unless `Success` is an optional, which is then `nil`.
public protocol DecodableRequest: DataRequest where Success: Decodable {
    /// ``DecodableOperation``, unless the request brings a subclass.
    associatedtype OperationType = DecodableOperation<Self>

    /// The type of a strategy: itself or an optional, like each of the following.
    associatedtype KeyStrategy: OptionalConvertible<JSONDecoder.KeyDecodingStrategy> = JSONDecoder
        .KeyDecodingStrategy?
    /// The type of a strategy.
    associatedtype DateStrategy: OptionalConvertible<JSONDecoder.DateDecodingStrategy> = JSONDecoder
        .DateDecodingStrategy?
    /// The type of a strategy.
    associatedtype DataStrategy: OptionalConvertible<JSONDecoder.DataDecodingStrategy> = JSONDecoder
        .DataDecodingStrategy?
    /// The type of a strategy.
    associatedtype FloatStrategy: OptionalConvertible<JSONDecoder.NonConformingFloatDecodingStrategy> = JSONDecoder
        .NonConformingFloatDecodingStrategy?

    /// The type of the decoder. With one that isn't a ``BodyDecoder``, the request implements `processData(_:)` itself.
    associatedtype ContentDecoder = JSONDecoder
    /// The type of the key path: `String` or `String?`.
    associatedtype ContentKeyPath: OptionalConvertible<String> = String?

    /// The decoder of the content.
    ///
    /// By default it is the decoder that ``RequestEnvironment/Settings/makeDecoder`` makes, with the strategies below;
    /// a request with a decoder of its own, such as a `PropertyListDecoder`, doesn't use them.
    var decoder: ContentDecoder { get }

    /// The keys of the part to decode, such as `data.user`, from the outside in, separated by dots.
    ///
    /// A number is an index into an array. `nil`, the default, decodes the whole.
    var keyPath: ContentKeyPath { get }

    /// The strategy for keys; `nil`, the default, is the decoder's own.
    var keyDecodingStrategy: KeyStrategy { get }
    /// The strategy for dates; `nil`, the default, is the decoder's own.
    var dateDecodingStrategy: DateStrategy { get }
    /// The strategy for binary data; `nil`, the default, is the decoder's own.
    var dataDecodingStrategy: DataStrategy { get }
    /// The strategy for infinity and NaN; `nil`, the default, is the decoder's own.
    var nonConformingFloatDecodingStrategy: FloatStrategy { get }
}

extension DecodableRequest where ContentKeyPath == String? {
    /// The whole content.
    public var keyPath: String? { nil }
}

extension DecodableRequest where KeyStrategy == JSONDecoder.KeyDecodingStrategy? {
    /// The decoder's own strategy.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy? { nil }
}

extension DecodableRequest where DateStrategy == JSONDecoder.DateDecodingStrategy? {
    /// The decoder's own strategy.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy? { nil }
}

extension DecodableRequest where DataStrategy == JSONDecoder.DataDecodingStrategy? {
    /// The decoder's own strategy.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy? { nil }
}

extension DecodableRequest where FloatStrategy == JSONDecoder.NonConformingFloatDecodingStrategy? {
    /// The decoder's own strategy.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy? { nil }
}

extension DecodableRequest where ContentDecoder == JSONDecoder {
    /// The decoder of the environment, with the strategies of the request.
    ///
    /// Outside the processing of a response there is no environment, and a plain decoder is used.
    public var decoder: JSONDecoder {
        let decoder = InheritedDecoder.make?() ?? JSONDecoder()
        if let strategy = keyDecodingStrategy.asOptional { decoder.keyDecodingStrategy = strategy }
        if let strategy = dateDecodingStrategy.asOptional { decoder.dateDecodingStrategy = strategy }
        if let strategy = dataDecodingStrategy.asOptional { decoder.dataDecodingStrategy = strategy }
        if let strategy = nonConformingFloatDecodingStrategy.asOptional {
            decoder.nonConformingFloatDecodingStrategy = strategy
        }
        return decoder
    }
}

// The constraint keeps a decoder that can't decode content from silently losing to the JSON default.
extension DecodableRequest where ContentDecoder: BodyDecoder {
    /// Decodes the content; a "not modified" response to a conditional request has none.
    ///
    /// - Throws: Any error that ``processData(_:)`` throws, or a ``RequestError`` of code `notModified`.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try processData(response.content(for: Success.self))
    }

    /// Decodes the content.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` of code `emptyResponse`.
    public func processData(_ data: Data) throws -> Success {
        try decoder.decode(Success.self, fromContent: data, atKeyPath: keyPath.asOptional)
    }
}

/// The operation of a ``DecodableRequest``: sets `Accept` to the types that its decoder reads, if the request has none.
// Sendable: Operation requires restating it; nothing is added here.
open class DecodableOperation<R: DecodableRequest>: DataOperation<R>, @unchecked Sendable {
    /// Sets `Accept` to the types that the decoder reads.
    ///
    /// - Throws: Any error that a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        if !request.headers.contains(.accept) {
            // Making a decoder only for this isn't worthwhile, and most are for JSON.
            request.headers.set(R.ContentDecoder.self == JSONDecoder.self ? .acceptsJSON : accept)
        }
        try super.prepare(&request)
    }

    private var accept: HTTPField {
        (request?.decoder as? any BodyDecoder).map { .accept($0.accepted) } ?? .acceptsJSON
    }
}

extension HTTPField {
    /// Made once, since most requests have it.
    fileprivate static let acceptsJSON = accept(.json)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose response is JSON that is decoded to `Success`.
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
/// Empty content fails with the code `emptyResponse`. If `Success` is an optional, empty content is decoded as `nil`.
public protocol DecodableRequest: DataRequest where Success: Decodable {
    /// The type of the operation: ``DecodableOperation``, unless the request specifies a subclass.
    associatedtype OperationType = DecodableOperation<Self>

    /// The type of the key strategy, which may be optional, like the types of the other strategies.
    associatedtype KeyStrategy: OptionalConvertible<JSONDecoder.KeyDecodingStrategy> = JSONDecoder
        .KeyDecodingStrategy?
    /// The type of the date strategy.
    associatedtype DateStrategy: OptionalConvertible<JSONDecoder.DateDecodingStrategy> = JSONDecoder
        .DateDecodingStrategy?
    /// The type of the data strategy.
    associatedtype DataStrategy: OptionalConvertible<JSONDecoder.DataDecodingStrategy> = JSONDecoder
        .DataDecodingStrategy?
    /// The type of the strategy for infinity and NaN.
    associatedtype FloatStrategy: OptionalConvertible<JSONDecoder.NonConformingFloatDecodingStrategy> = JSONDecoder
        .NonConformingFloatDecodingStrategy?

    /// The type of the decoder. If it isn't a ``BodyDecoder``, the request must implement `processData(_:)` itself.
    associatedtype ContentDecoder = JSONDecoder
    /// The type of the key path: `String` or `String?`.
    associatedtype ContentKeyPath: OptionalConvertible<String> = String?

    /// The decoder of the content.
    ///
    /// By default, it is the decoder that ``RequestEnvironment/Settings/makeDecoder`` creates, with the strategies
    /// below. If the request has its own decoder, such as a `PropertyListDecoder`, the strategies aren't used.
    var decoder: ContentDecoder { get }

    /// The key path of the value to decode, outermost key first and separated by dots, such as `data.user`.
    ///
    /// A number is an index into an array. `nil`, the default, decodes the entire content.
    var keyPath: ContentKeyPath { get }

    /// The strategy for keys; `nil`, the default, uses the decoder's strategy.
    var keyDecodingStrategy: KeyStrategy { get }
    /// The strategy for dates; `nil`, the default, uses the decoder's strategy.
    var dateDecodingStrategy: DateStrategy { get }
    /// The strategy for binary data; `nil`, the default, uses the decoder's strategy.
    var dataDecodingStrategy: DataStrategy { get }
    /// The strategy for infinity and NaN; `nil`, the default, uses the decoder's strategy.
    var nonConformingFloatDecodingStrategy: FloatStrategy { get }
}

extension DecodableRequest where ContentKeyPath == String? {
    /// `nil`, which decodes the entire content.
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
    /// Without an environment, that is, when no response is being processed, a plain `JSONDecoder` is used.
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

// Because of the constraint, a `decoder` whose type can't decode content fails to compile. Otherwise, Swift would
// silently ignore that property in favour of the JSON default.
extension DecodableRequest where ContentDecoder: BodyDecoder {
    /// Decodes the content of a response; a 304 response to a conditional request has no content.
    ///
    /// - Throws: Any error that ``processData(_:)`` throws, or a ``RequestError`` with the code `notModified`.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try processData(response.content(for: Success.self))
    }

    /// Decodes the content.
    ///
    /// - Throws: A `DecodingError`, or a ``RequestError`` with the code `emptyResponse`.
    public func processData(_ data: Data) throws -> Success {
        try decoder.decode(Success.self, fromContent: data, atKeyPath: keyPath.asOptional)
    }
}

/// The operation of a ``DecodableRequest``, which adds an `Accept` field with the decoder's media types if it is
/// missing.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds nothing.
open class DecodableOperation<R: DecodableRequest>: DataOperation<R>, @unchecked Sendable {
    /// Sets `Accept` to the media types that the decoder reads, unless the request has the field.
    ///
    /// - Throws: Any error that a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        if !request.headers.contains(.accept) {
            // Most decoders are JSON decoders, so don't create one only to find its media types.
            request.headers.set(R.ContentDecoder.self == JSONDecoder.self ? .acceptsJSON : acceptField)
        }
        try super.prepare(&request)
    }

    private var acceptField: HTTPField {
        (request?.decoder as? any BodyDecoder).map { .accept($0.accepted) } ?? .acceptsJSON
    }
}

extension HTTPField {
    /// Stored because most requests have this field.
    fileprivate static let acceptsJSON = accept(.json)
}

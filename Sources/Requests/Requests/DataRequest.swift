// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose content becomes a value in whatever way the request says.
///
/// ```swift
/// struct ThumbnailRequest: DataRequest {
///     typealias Success = Thumbnail
///     …
///     func processData(_ data: Data) throws -> Thumbnail { try Thumbnail(png: data) }
/// }
/// ```
public protocol DataRequest: NetworkRequest {
    /// ``DataOperation``, unless the request brings a subclass.
    associatedtype OperationType = DataOperation<Self>

    /// Makes the value of the content. Called once, on a thread where it may take its time.
    ///
    /// - Throws: The failure of the request.
    func processData(_ data: Data) throws -> Success

    /// Makes the value of the response, for requests that need its status or headers; by default of its content alone.
    ///
    /// - Throws: The failure of the request.
    func process(_ response: HTTPResponse<Data>) throws -> Success
}

extension DataRequest {
    /// Hands the content to ``processData(_:)``.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try processData(response.body)
    }
}

extension DataRequest where Success == Data {
    /// Leaves the content as it is.
    public func processData(_ data: Data) throws -> Data { data }
}

/// The operation of a ``DataRequest``: collects the content in memory, up to the limit, and has the request process it.
// Sendable: Operation demands that it be restated; nothing is added here.
open class DataOperation<R: DataRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// Has the request process the response.
    ///
    /// - Throws: What the request throws.
    open override func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        guard let request else { return try super.process(response) }
        return try InheritedDecoder.$make.withValue(response.makeDecoder) { try request.process(response) }
    }
}

/// The decoder of the environment, while a request makes its value of a response.
///
/// ``DecodableRequest/decoder`` is a property, which is handed nothing, and it is also read by a `processData(_:)` of the
/// request's own.
enum InheritedDecoder {
    @TaskLocal static var make: (@Sendable () -> JSONDecoder)?
}

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

    /// The type of a strategy: itself or an optional, as each of the following.
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

    /// What decodes the content. By default the decoder that ``RequestEnvironment/makeDecoder`` makes, with the strategies
    /// below; a request that brings its own, such as a `PropertyListDecoder`, need not state those.
    var decoder: ContentDecoder { get }

    /// The keys from the outside in, separated by dots, of the part of the content that is decoded, such as `data.user`; a
    /// number is an index into an array. Nil, the default, decodes the whole.
    var keyPath: ContentKeyPath { get }

    /// How keys become property names; nil, the default, is the decoder's own way.
    var keyDecodingStrategy: KeyStrategy { get }
    /// How dates are read; nil, the default, is the decoder's own way.
    var dateDecodingStrategy: DateStrategy { get }
    /// How binary data is read; nil, the default, is the decoder's own way.
    var dataDecodingStrategy: DataStrategy { get }
    /// How infinities and not-a-number are read; nil, the default, is the decoder's own way.
    var nonConformingFloatDecodingStrategy: FloatStrategy { get }
}

extension DecodableRequest where ContentKeyPath == String? {
    /// The whole.
    public var keyPath: String? { nil }
}

extension DecodableRequest where KeyStrategy == JSONDecoder.KeyDecodingStrategy? {
    /// The decoder's own way.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy? { nil }
}

extension DecodableRequest where DateStrategy == JSONDecoder.DateDecodingStrategy? {
    /// The decoder's own way.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy? { nil }
}

extension DecodableRequest where DataStrategy == JSONDecoder.DataDecodingStrategy? {
    /// The decoder's own way.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy? { nil }
}

extension DecodableRequest where FloatStrategy == JSONDecoder.NonConformingFloatDecodingStrategy? {
    /// The decoder's own way.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy? { nil }
}

extension DecodableRequest where ContentDecoder == JSONDecoder {
    /// The decoder of the environment, with the strategies of the request.
    ///
    /// Outside the processing of a response there is no environment, and a plain decoder is the base.
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

// A decoder of a type that can't decode content doesn't silently lose to that of JSON.
extension DecodableRequest where ContentDecoder: BodyDecoder {
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
        try decoder.decode(Success.self, fromContent: data, atKeyPath: keyPath.asOptional)
    }
}

/// The operation of a ``DecodableRequest``: asks for what its decoder reads, where the request doesn't say what it
/// accepts.
// Sendable: Operation demands that it be restated; nothing is added here.
open class DecodableOperation<R: DecodableRequest>: DataOperation<R>, @unchecked Sendable {
    /// Asks for what the decoder reads.
    ///
    /// - Throws: What a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        if !request.headers.contains(.accept) {
            // To make a decoder only to ask it isn't worth it, and most are of JSON.
            let isJSON = R.ContentDecoder.self == JSONDecoder.self
            let decoder = isJSON ? nil : self.request?.decoder as? any BodyDecoder
            request.headers.set(.accept(decoder?.accepted ?? [.json]))
        }
        try super.prepare(&request)
    }
}

/// A request whose answer is that it was done: any success status, and no content.
///
/// ```swift
/// struct DeleteRecipeRequest: NoContentRequest {
///     let recipeID: String
///     var identifier: String { recipeID }
///     …
/// }
/// ```
public protocol NoContentRequest: DataRequest where Success == Void {
    /// ``NoContentOperation``, unless the request brings a subclass.
    associatedtype OperationType = NoContentOperation<Self>

    /// Whether content is an error of code `unexpectedBody`; true by default. Otherwise it is ignored.
    var shouldEnforceNoContent: Bool { get }
}

extension NoContentRequest {
    /// Content is an error.
    public var shouldEnforceNoContent: Bool { true }

    /// Checks that there is no content; it is never decoded.
    ///
    /// - Throws: A ``RequestError`` of code `unexpectedBody` where there is content, and that matters. No content is no
    ///   error.
    public func processData(_ data: Data) throws {
        guard data.isEmpty || !shouldEnforceNoContent else {
            throw RequestError(.unexpectedBody, phase: .decoding, reason: "\(data.count) bytes of content")
        }
    }
}

/// The operation of a ``NoContentRequest``.
///
/// It does what ``DataOperation`` does; it is a type of its own so that a request without content can be told from one
/// with content, and subclassed, by its operation.
// Sendable: Operation demands that it be restated; nothing is added here.
open class NoContentOperation<R: NoContentRequest>: DataOperation<R>, @unchecked Sendable {}

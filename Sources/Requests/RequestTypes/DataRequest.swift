// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that makes its value of the content itself.
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

    /// Makes the value of the content. Called once, on a thread that may be blocked.
    ///
    /// - Throws: The failure of the request.
    func processData(_ data: Data) throws -> Success

    /// Makes the value of the response, for requests that need its status or headers; by default of its content alone.
    ///
    /// - Throws: The failure of the request.
    func process(_ response: HTTPResponse<Data>) throws -> Success
}

extension DataRequest {
    /// Passes the content to ``processData(_:)``.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try processData(response.body)
    }
}

extension DataRequest where Success == Data {
    /// Returns the content unchanged.
    public func processData(_ data: Data) throws -> Data { data }
}

/// The operation of a ``DataRequest``: collects the content in memory, up to the limit, and lets the request process
/// it.
// Sendable: Operation requires restating it; nothing is added here.
open class DataOperation<R: DataRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// Lets the request process the response.
    ///
    /// - Throws: Any error that the request throws.
    open override func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        guard let request else { return try super.process(response) }
        // Another request's decoder may be inherited, if this one was added while that made its value.
        if response.notes.makeDecoder == nil, InheritedDecoder.make == nil { return try request.process(response) }
        return try InheritedDecoder.$make.withValue(response.notes.makeDecoder) { try request.process(response) }
    }
}

/// The decoder of the environment, while a request makes its value of a response.
///
/// ``DecodableRequest/decoder`` is a property without parameters, and may also be used by a request's own
/// `processData(_:)`.
enum InheritedDecoder {
    @TaskLocal static var make: (@Sendable () -> JSONDecoder)?
}

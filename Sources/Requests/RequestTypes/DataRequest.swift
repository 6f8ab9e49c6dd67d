// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that creates its value from the raw content of the response.
///
/// ```swift
/// struct ThumbnailRequest: DataRequest {
///     typealias Success = Thumbnail
///     …
///     func processData(_ data: Data) throws -> Thumbnail { try Thumbnail(png: data) }
/// }
/// ```
public protocol DataRequest: NetworkRequest {
    /// The type of the operation: ``DataOperation``, unless the request specifies a subclass.
    associatedtype OperationType = DataOperation<Self>

    /// Creates the value from the content. Called once, on a thread that is allowed to block.
    ///
    /// - Throws: The failure of the request.
    func processData(_ data: Data) throws -> Success

    /// Creates the value from the entire response, for requests that need its status or headers; by default, only from
    /// its content.
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

/// The operation of a ``DataRequest``, which collects the content in memory, up to a limit, and lets the request
/// process it.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds nothing.
open class DataOperation<R: DataRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// Lets the request process the response.
    ///
    /// - Throws: Any error that the request throws.
    open override func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        guard let request else { return try super.process(response) }
        // The task may have inherited the decoder of another request, which added this request while processing its own
        // response.
        if response.notes.makeDecoder == nil, InheritedDecoder.make == nil { return try request.process(response) }
        return try InheritedDecoder.$make.withValue(response.notes.makeDecoder) { try request.process(response) }
    }
}

/// The decoder of the environment, while a request processes its response.
///
/// A task-local value is necessary because ``DecodableRequest/decoder`` is a property without parameters, and a
/// request's `processData(_:)` may use it too.
enum InheritedDecoder {
    @TaskLocal static var make: (@Sendable () -> JSONDecoder)?
}

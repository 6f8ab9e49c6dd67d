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

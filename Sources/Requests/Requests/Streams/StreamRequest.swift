// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose content becomes a value while it comes: a feed, a log, an answer too large for memory.
///
/// ```swift
/// struct CountLines: StreamRequest {
///     typealias Success = Int
///     …
///     func process(_ stream: ResponseStream) async throws -> Int {
///         try await stream.lines.reduce(0) { count, _ in count + 1 }
///     }
/// }
/// ```
///
/// A response with a status that isn't valid is a failure with its content, as with every request; `process` sees only
/// good ones. What it has begun to consume isn't asked for again: there is no retry after that.
public protocol StreamRequest: NetworkRequest {
    /// ``StreamOperation``, unless the request brings a subclass.
    associatedtype OperationType = StreamOperation<Self>

    /// How many bytes wait to be consumed before the server is held back; 256 KiB by default.
    var bufferSize: Int { get }

    /// Makes the value of the content while it comes.
    ///
    /// The task that it runs in is cancelled with the operation. Returning before the end cancels the transfer.
    ///
    /// - Throws: The failure of the request. An error of the stream, handed on, is the failure of the transfer.
    func process(_ stream: ResponseStream) async throws -> Success
}

extension StreamRequest {
    /// 256 KiB.
    public var bufferSize: Int { 256 * 1024 }
}

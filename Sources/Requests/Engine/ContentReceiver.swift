// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Receives the content of one response, instead of memory: a file, a stream.
///
/// One thread at a time calls it, in the order of the content, and `end` last.
protocol ContentReceiver: AnyObject, Sendable {
    /// The byte count of the whole so far, with the bytes that were there before; `nil` if it doesn't want any.
    var count: Int64? { get }

    /// Receives a chunk.
    ///
    /// - Throws: An error that fails the operation.
    func receive(_ data: Data) throws

    /// Ends the content, because the transfer is over; without an error, the content is complete.
    func end(_ error: RequestError?)
}

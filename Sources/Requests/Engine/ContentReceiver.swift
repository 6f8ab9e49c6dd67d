// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Receives the content of one response, such as a file or a stream, that isn't collected in memory.
///
/// The methods are called by one thread at a time, in the order of the content; `end` is called last.
protocol ContentReceiver: AnyObject, Sendable {
    /// The byte count of the content so far, including bytes from earlier transfers; `nil` if the content is ignored.
    var count: Int64? { get }

    /// Receives a chunk.
    ///
    /// - Throws: An error that fails the operation.
    func receive(_ data: Data) throws

    /// Ends the content, because the transfer has ended; without an error, the content is complete.
    func end(_ error: RequestError?)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Takes the content of one response, in the place of memory: a file, a stream.
///
/// One thread at a time calls it, in the order of the content, and `end` last.
protocol ContentReceiver: AnyObject, Sendable {
    /// How many bytes of the whole it has, with those that were there before; nil where it doesn't want any.
    var count: Int64? { get }

    /// Takes a piece.
    ///
    /// - Throws: What fails the operation.
    func receive(_ data: Data) throws

    /// The transfer is over; with no error, the content is complete.
    func end(_ error: RequestError?)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An event of a transfer; ``HTTPTransport`` documents the order of events.
public enum TransferEvent: Sendable {
    /// The head of an informational response was received, such as 100 or 103 (RFC 9110, 15.2).
    case informational(HTTPResponseHead)
    /// The number of content bytes that have been sent so far, and their total, if known.
    case sent(Int64, of: Int64?)
    /// The head of the final response was received.
    case head(HTTPResponseHead)
    /// A chunk of the final response's content was received.
    case data(Data)
    /// The trailer fields were received, after all content (RFC 9110, 6.5).
    ///
    /// A transport without access to trailer fields doesn't report them.
    case trailers(HTTPHeaders)
    /// The metrics that the transport has measured for the transfer.
    indirect case metrics(TransferRecord.Metrics)
    /// The transfer has ended; if there is no error, the response is complete.
    case end(RequestError?)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An event of a transfer; ``HTTPTransport`` has the rules of their order.
public enum TransferEvent: Sendable {
    /// A response before the final one was received: 100, 103 (RFC 9110, 15.2).
    case informational(HTTPResponseHead)
    /// A number of content bytes have been sent, of the given total, if that is known.
    case sent(Int64, of: Int64?)
    /// The final response began.
    case head(HTTPResponseHead)
    /// A piece of its content was received.
    case data(Data)
    /// Fields behind the content were received, which complete it (RFC 9110, 6.5).
    ///
    /// A transport that can't see them doesn't report them.
    case trailers(HTTPHeaders)
    /// The metrics of the transfer, as far as the transport measures them.
    indirect case metrics(TransferRecord.Metrics)
    /// The transfer is over; with no error, the response is complete.
    case end(RequestError?)
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What happens in a transfer; ``HTTPTransport`` has the rules of their order.
public enum TransferEvent: Sendable {
    /// A response that isn't the final one came: 100, 103 (RFC 9110, 15.2).
    case informational(HTTPResponseHead)
    /// So many bytes of the content have been sent, of so many, where that is known.
    case sent(Int64, of: Int64?)
    /// The final response began.
    case head(HTTPResponseHead)
    /// A piece of its content came.
    case data(Data)
    /// What the transfer took, as far as the transport can tell.
    indirect case metrics(Metrics)
    /// The transfer is over; with no error, the response is complete.
    case end(RequestError?)
}

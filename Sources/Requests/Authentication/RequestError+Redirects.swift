// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// Returns whether the failed attempt followed a redirect from a request that isn't safe to send again.
    ///
    /// If so, credentials were already sent to the target of the redirect, and a retry could repeat an action such as a
    /// payment.
    func followsRedirect(from request: HTTPRequest?) -> Bool {
        guard let request, !request.method.isIdempotent, !request.headers.contains(.idempotencyKey),
            let start = transfers.lastIndex(where: { $0.cause == .initial || $0.cause == .retry })
        else { return false }
        return transfers[start...].contains { $0.cause == .redirect }
    }
}

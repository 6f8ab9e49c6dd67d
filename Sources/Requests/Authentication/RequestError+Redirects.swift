// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// Whether the failed attempt has followed a redirect from a request that must not be sent again for a challenge.
    ///
    /// The challenge was then answered at the redirect, and a retry could repeat a payment.
    func followsRedirect(from request: HTTPRequest?) -> Bool {
        guard let request, !request.method.isIdempotent, !request.headers.contains(.idempotencyKey),
            let start = transfers.lastIndex(where: { $0.cause == .initial || $0.cause == .retry })
        else { return false }
        return transfers[start...].contains { $0.cause == .redirect }
    }
}

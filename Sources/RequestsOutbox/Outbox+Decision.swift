// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// A decision about an entry whose attempt has failed.
    public enum Decision: Sendable, Hashable {
        /// Sends the entry again after a wait; its category waits for it.
        case retry
        /// Parks the entry; its category waits for it.
        case park
        /// Parks the entry; its category continues without it.
        case skip

        /// Creates the default decision about a failed attempt.
        ///
        /// | failure | decision |
        /// |---|---|
        /// | a status from 400 to 499 without `Retry-After`, except 401, 407, 408, 421, 425 and 429 | `park` |
        /// | a request that is invalid, or that this client can't encode or send | `park` |
        /// | a status from 200 to 299 with a response that a validator rejects | `park` |
        /// | an accepted status with content that is too large, or can't be decoded | `park` |
        /// | HTML over `http` with a status from 200 to 299, if it has the wrong type, or can't be decoded | `retry` |
        /// | everything else, such as no connection, 401 or 503 | `retry` |
        ///
        /// A 401 is retried, because a login changes the credentials of the client, not the entry. A 409 with
        /// `Retry-After` is retried, because a server may send it while it is still processing an earlier request with
        /// the same `Idempotency-Key`. HTML over `http` is retried, because it may be the login page of a captive
        /// portal. Over `https`, only the server can have sent it.
        public init(about error: RequestError) {
            let codes: Set<RequestError.Code> = [
                .invalidRequest, .encoding, .unsupported, .bodyNotReplayable, .decoding, .emptyResponse,
                .unexpectedBody, .bodyTooLarge, .headTooLarge,
            ]
            // Either the request itself reports content that it can't use, or the outbox reports a body that is a file.
            let isOwn = error.code == .other && error.phase == .decoding || error.underlying is Outbox.Error
            let isFinal = error.isRefusal || isOwn || codes.contains(error.code)
            self = isFinal && !error.mayBePortalPage ? .park : .retry
        }
    }
}

extension RequestError {
    /// Whether the response may be the login page of a captive portal, which answers or redirects any request over
    /// `http`.
    fileprivate var mayBePortalPage: Bool {
        guard [.unacceptableContentType, .decoding].contains(code), let response, 200...299 ~= response.status.code,
            let type = response[.contentType].flatMap({ try? MediaType(parsing: $0) }),
            ["text/html", "application/xhtml+xml"].contains(type.essence)
        else { return false }
        return (transfers.map(\.request) + [request].compactMap(\.self)).contains { $0.url.scheme == "http" }
    }

    /// Whether the response indicates that the same request would be rejected again.
    fileprivate var isRefusal: Bool {
        guard [.unacceptableStatus, .rejected, .unacceptableContentType].contains(code) else { return false }
        return switch response?.status.code ?? 0 {
        case 200...299: true
        case 401, 407, 408, 421, 425, 429: false
        case 400...499: retryAfter() == nil
        default: false
        }
    }
}

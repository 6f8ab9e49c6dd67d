// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// A decision about an entry whose attempt has failed.
    public enum Decision: Sendable, Hashable {
        /// It is sent again after a wait, and its category waits for it.
        case retry
        /// It is parked, and its category waits for it.
        case park
        /// It is parked, and its category continues.
        case skip

        /// Creates the usual decision.
        ///
        /// | failure | decision |
        /// |---|---|
        /// | a status from 400 to 499 without `Retry-After`, except 401, 407, 408, 421, 425 and 429 | `park` |
        /// | the request is invalid, or can't be encoded or sent by this client | `park` |
        /// | the status is from 200 to 299, and a validator refuses the response | `park` |
        /// | the status is accepted, and the content is too large, or can't be decoded | `park` |
        /// | the same over `http`, and the content is HTML of another type than accepted, or can't be decoded | `retry` |
        /// | everything else, such as no connection, 401 or 503 | `retry` |
        ///
        /// A 401 is retried, since a login changes the credentials of the client, and not the entry. A 409 with
        /// `Retry-After` is retried, since a server may send it while it still processes the same `Idempotency-Key`.
        /// HTML over `http` is retried, since it may be the login page of a captive portal. Over `https`, only the
        /// server can have sent it.
        public init(about error: RequestError) {
            let codes: Set<RequestError.Code> = [
                .invalidRequest, .encoding, .unsupported, .bodyNotReplayable, .decoding, .emptyResponse,
                .unexpectedBody, .bodyTooLarge, .headTooLarge,
            ]
            // The request's own error about content that it can't use, or the outbox's about a body that is a file.
            let isOwn = error.code == .other && error.phase == .decoding || error.underlying is Outbox.Error
            let isFinal = error.isRefusal || isOwn || codes.contains(error.code)
            self = isFinal && !error.mayBePortalPage ? .park : .retry
        }
    }
}

extension RequestError {
    /// Whether the response may be the login page of a captive portal, which answers any request over `http`, or
    /// redirects it.
    fileprivate var mayBePortalPage: Bool {
        guard [.unacceptableContentType, .decoding].contains(code), let response, 200...299 ~= response.status.code,
            let type = response[.contentType].flatMap({ try? MediaType(parsing: $0) }),
            ["text/html", "application/xhtml+xml"].contains(type.essence)
        else { return false }
        return (transfers.map(\.request) + [request].compactMap(\.self)).contains { $0.url.scheme == "http" }
    }

    /// Whether the response says that the same request would be refused again.
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

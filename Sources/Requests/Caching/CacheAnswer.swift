// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a cache says to a request.
enum CacheAnswer: Sendable {
    /// Nothing: send this request, which is the caller's but for what its policy adds.
    case miss(HTTPRequest)
    /// This is the response, and nothing has to be sent.
    case fresh(HTTPResponse<Data>)
    /// Send this request, which asks whether the stored response is still the same.
    case revalidate(HTTPRequest, stored: CachedResponse)
    /// There is no response that may be used, and the caller wants nothing to be sent.
    case unavailable
}

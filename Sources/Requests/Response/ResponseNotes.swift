// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Internal metadata of a response, in addition to its head and its content.
struct ResponseNotes: Sendable {
    /// The transfers up to the response.
    var history = TransferHistory([])
    /// Creates the environment's JSON decoder, for callers that don't provide their own.
    ///
    /// The library sets this property wherever a response reaches the caller's code: an interceptor, a validator, the
    /// request or the result.
    var makeDecoder: (@Sendable () -> JSONDecoder)?
    /// The request that the response belongs to, if redirects have replaced the operation's own request.
    var redirectedRequest: Box<HTTPRequest>?
    /// Whether another request that shares the response already stores it in the cache.
    var isStoredElsewhere = false
    /// Whether only the beginning of the content was read.
    var isTruncated = false
}

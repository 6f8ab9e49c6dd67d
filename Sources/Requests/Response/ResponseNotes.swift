// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What the library knows about a response besides its head and its content.
struct ResponseNotes: Sendable {
    /// The transfers up to the response.
    var history = TransferHistory([])
    /// Creates the JSON decoder if the caller has none: that of the environment.
    ///
    /// Set wherever a response reaches code of the caller: an interceptor, a validator, the request, the result.
    var makeDecoder: (@Sendable () -> JSONDecoder)?
    /// The request that the response answers, if that isn't the operation's own: redirects have led to it.
    var redirectedRequest: Box<HTTPRequest>?
    /// Whether another request that shares the response has it stored by the cache.
    var isStoredElsewhere = false
    /// Whether only the beginning of the content was read.
    var isTruncated = false
}

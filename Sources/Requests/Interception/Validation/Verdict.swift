// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a validator makes of a response.
public enum Verdict: Sendable {
    /// The next validator judges, or the response is decoded; another one in its place, where there is one.
    case accept(replacing: HTTPResponse<Data>?)
    /// The request fails, unless an interceptor or the retry policy has it tried again.
    case fail(any Error)
    /// The request is tried again, whatever its method is, as long as the strategy's limit and its body allow.
    ///
    /// Neither interceptors nor the retry policy are asked.
    case retry(RetryStrategy)

    /// The next validator judges, or the response is decoded.
    public static let accept = Verdict.accept(replacing: nil)
}

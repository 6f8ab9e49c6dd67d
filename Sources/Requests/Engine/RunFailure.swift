// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The failure of an attempt, and the rule that decides about a retry.
///
/// `RunFailure` is a class because every function with a typed `throws` reserves space for the error.
final class RunFailure: Error {
    enum RetryRule: Sendable {
        /// No retry: the attempt's failure becomes the operation's failure.
        case none
        /// The interceptors decide, and then the retry policy.
        case policies
        /// A validator has chosen a strategy; `limit` is the error code to use when the strategy's limit is reached.
        case strategy(RetryPolicy.Strategy, limit: RequestError.Code)
    }

    let error: any Error
    let phase: RequestError.Phase
    /// The response that was refused.
    let response: HTTPResponse<Data>?
    let retryRule: RetryRule

    /// Whether the error comes from the caller's code, and isn't of a type that the library throws or knows.
    var isCallerError: Bool {
        switch error {
        case is RequestError, is CancellationError, is InvalidValue, is DecodingError: false
        default: true
        }
    }

    init(
        _ error: any Error,
        in phase: RequestError.Phase,
        response: HTTPResponse<Data>? = nil,
        retryRule: RetryRule = .none
    ) {
        self.error = error
        self.phase = phase
        self.response = response
        self.retryRule = retryRule
    }

    /// Wraps an error of the chain, which is eligible for a retry only if it is a ``RequestError``.
    convenience init(sending error: any Error) {
        if let error = error as? RequestError {
            self.init(error, in: error.phase, retryRule: .policies)
        } else {
            self.init(error, in: .sending)
        }
    }
}

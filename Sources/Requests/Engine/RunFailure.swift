// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The failure of an attempt, with the rule that may lead to another one.
///
/// A failure is an object because every function that throws one reserves space for it.
final class RunFailure: Error {
    enum RetryRule: Sendable {
        /// None: the failure is the operation's.
        case none
        /// The interceptors, and after them the retry policy.
        case policies
        /// The strategy that a validator has named, and the code of the error if its limit is reached.
        case strategy(RetryPolicy.Strategy, limit: RequestError.Code)
    }

    let error: any Error
    let phase: RequestError.Phase
    /// The refused response, as it was judged.
    let response: HTTPResponse<Data>?
    let retryRule: RetryRule

    /// Whether the error is a caller's own, and not of a type that the library throws or knows.
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

    /// Wraps an error of the chain, which is eligible for retry only if it is the library's own.
    convenience init(sending error: any Error) {
        if let error = error as? RequestError {
            self.init(error, in: error.phase, retryRule: .policies)
        } else {
            self.init(error, in: .sending)
        }
    }
}

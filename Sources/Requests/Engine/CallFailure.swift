// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Why an attempt of a call has failed, and who may decide that there is another one.
struct CallFailure: Error {
    enum Recourse: Sendable {
        /// None: the failure is the operation's.
        case none
        /// The interceptors, and behind them the retry policy.
        case policies
        /// The strategy that a validator has named, and the code of the error if its limit is reached.
        case strategy(RetryStrategy, limit: RequestError.Code)
        /// The request is sent again at once: what came was good, and not the whole.
        case continuation
    }

    let error: any Error
    let phase: RequestError.Phase
    /// The response that was refused, as it was judged.
    var response: HTTPResponse<Data>?
    var recourse = Recourse.none

    init(
        _ error: any Error,
        in phase: RequestError.Phase,
        response: HTTPResponse<Data>? = nil,
        recourse: Recourse = .none
    ) {
        self.error = error
        self.phase = phase
        self.response = response
        self.recourse = recourse
    }
}

/// Thrown through the chain where a download needs another part of its file.
struct AnotherPart: Error {
    let reason: RequestError
}

extension RequestError.Code {
    /// Whether another attempt would meet the same failure, whoever decides about it.
    var isLasting: Bool {
        switch self {
        case .cancelled, .tooManyRedirects, .badRedirect, .redirectRefused, .bodyNotReplayable, .headTooLarge,
            .bodyTooLarge, .notCached, .nestingLimitReached, .bufferFull, .diskFull, .fileExists, .cannotWriteFile,
            .digestMismatch:
            true
        default: false
        }
    }
}

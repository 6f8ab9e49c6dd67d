// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The decision about another attempt, and the wait before it.
extension CallAttempt {
    /// Returns the next attempt, when its time has come.
    ///
    /// The decision depends on the request that would be sent again, whatever redirects it went through.
    ///
    /// - Throws: The failure, if there is to be no other attempt.
    func next(
        after failure: CallFailure,
        to request: HTTPRequest?,
        mayTryAgain: Bool
    ) async throws(CallFailure) -> CallAttempt {
        guard let request else { throw failure }
        switch failure.recourse {
        case .none:
            throw failure
        case .continuation:
            guard request.body.isReplayable else { throw notReplayable(failure) }
            try await wait(.zero, because: failure)
            return CallAttempt(number, isFirst: false, of: call, for: operation, plan, seat: seat)
        case .strategy(let strategy, let limit):
            // A stream whose consumer has begun isn't judged, and has no strategy.
            guard number <= strategy.limit else {
                let reason = "a validator may have the request sent again \(strategy.limit) times"
                let error = RequestError(limit, phase: .validating, reason: reason)
                throw CallFailure(error, in: .validating, response: failure.response)
            }
            try await wait(for: strategy, after: failure, to: request)
        case .policies:
            guard let error = failure.error as? RequestError, !error.code.isLasting, mayTryAgain,
                !plan.interceptors.isEmpty || policy.limit > 0
            else { throw failure }
            try await consider(failure, error, to: request)
        }
        return CallAttempt(number + 1, isFirst: false, of: call, for: operation, plan, seat: seat)
    }

    /// The retry policy of the call.
    var policy: RetryPolicy { options.retry ?? environment.retry }

    /// The number of attempts that the retry policy counts, including those of shared transfers.
    var spent: Int { max(number, call.record.spent) }

    /// Asks the interceptors and the retry policy, and waits as long as they require.
    private func consider(
        _ failure: CallFailure,
        _ error: RequestError,
        to request: HTTPRequest
    ) async throws(CallFailure) {
        let error = complete(error, failure)
        let failure = CallFailure(error, in: failure.phase, response: failure.response)
        let context = InterceptorContext(self, request: request)
        for (position, interceptor) in zip(plan.positions, plan.interceptors) {
            let decision = await CallScope.run(interceptor, at: position, within: call.scope) {
                await interceptor.retry(error, context: context)
            }
            switch decision {
            case .pass: continue
            case .fail(let other): throw other.map { CallFailure($0, in: failure.phase) } ?? failure
            case .retry(let delay):
                guard request.body.isReplayable else { throw notReplayable(failure) }
                return try await wait(delay, because: failure)
            }
        }
        let delay = policy.delay(
            after: error,
            of: request,
            attempt: spent,
            now: environment.now(),
            random: environment.random
        )
        guard let delay else { throw failure }
        guard request.body.isReplayable else { throw notReplayable(failure) }
        try await wait(delay, because: failure)
        let count = spent + 1
        call.record { $0.spend(count) }
    }

    private func wait(
        for strategy: RetryStrategy,
        after failure: CallFailure,
        to request: HTTPRequest
    ) async throws(CallFailure) {
        guard request.body.isReplayable else { throw notReplayable(failure) }
        let delay = strategy.backoff.delay(before: number, random: environment.random)
        if let prepare = strategy.prepare {
            let context = InterceptorContext(self, request: request)
            do {
                try await CallScope.run(strategy, within: call.scope) { try await prepare(context) }
            } catch {
                throw CallFailure(error, in: .validating, response: failure.response)
            }
            seat?.renew()
        }
        try await wait(delay, because: failure)
    }

    private func wait(_ delay: Duration, because failure: CallFailure) async throws(CallFailure) {
        if let feed = call.feed, let error = failure.error as? RequestError {
            feed.report(.retryScheduled(after: delay, because: complete(error, failure)))
        }
        guard delay > .zero else { return }
        do {
            try await environment.clock.wait(delay)
        } catch {
            throw CallFailure(error, in: failure.phase)
        }
    }

    private func complete(_ error: RequestError, _ failure: CallFailure) -> RequestError {
        error.completed(
            with: call.record,
            judged: failure.response,
            limit: environment.maximumErrorBodySize,
            phase: failure.phase
        )
    }

    /// Returns the failure, with the reason why there is no other attempt as its cause.
    private func notReplayable(_ failure: CallFailure) -> CallFailure {
        guard let error = failure.error as? RequestError else { return failure }
        let cause = RequestError(
            .bodyNotReplayable,
            phase: failure.phase,
            reason: "cannot retry: the body is a stream that was already sent",
            underlying: error.underlying
        )
        return CallFailure(error.caused(by: cause), in: failure.phase, response: failure.response)
    }
}

/// The failure of an attempt, with the rule that may lead to another one.
///
/// An object, since room for a failure is kept in every function that may throw one.
final class CallFailure: Error {
    enum Recourse: Sendable {
        /// None: the failure is the operation's.
        case none
        /// The interceptors, and after them the retry policy.
        case policies
        /// The strategy that a validator has named, and the code of the error if its limit is reached.
        case strategy(RetryStrategy, limit: RequestError.Code)
        /// The request is sent again at once: the response was good, but incomplete.
        case continuation
    }

    let error: any Error
    let phase: RequestError.Phase
    /// The refused response, as it was judged.
    let response: HTTPResponse<Data>?
    let recourse: Recourse

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

    /// Converts an error that the chain has thrown.
    static func sending(_ error: any Error) -> CallFailure {
        switch error {
        case let failure as CallFailure: failure
        case let part as AnotherPart: CallFailure(part.reason, in: .receiving, recourse: .continuation)
        case let error as RequestError: CallFailure(error, in: error.phase, recourse: .policies)
        default: CallFailure(error, in: .sending)
        }
    }
}

/// Thrown through the chain if a download needs another part of its file.
struct AnotherPart: Error {
    let reason: RequestError
}

extension RequestError.Code {
    /// Whether another attempt would meet the same failure, so that no policy retries it.
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

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides whether there is another attempt, and waits until it is due.
extension Attempt {
    /// Waits until the next attempt is due, and returns it.
    ///
    /// The decision depends on the request that would be sent again, even after redirects.
    ///
    /// - Throws: The failure, if there is no other attempt.
    func next(
        after failure: RunFailure,
        to request: HTTPRequest?
    ) async throws(RunFailure) -> Attempt {
        guard let request else { throw failure }
        switch failure.retryRule {
        case .none:
            throw failure
        case .strategy(let strategy, let limit):
            // `isRetryable` needn't be checked here, because only validators choose a strategy, and they don't validate
            // a stream that is already being consumed.
            guard number <= strategy.limit else {
                let reason = "the validator's limit of \(strategy.limit) retries was reached"
                let error = RequestError(limit, phase: .validating, reason: reason)
                throw RunFailure(error, in: .validating, response: failure.response)
            }
            try await wait(for: strategy, after: failure, to: request)
        case .policies:
            guard let error = failure.error as? RequestError, !error.code.kind.isFinal, operation.handling.isRetryable,
                !configuration.interceptors.isEmpty || configuration.retry.limit > 0
            else { throw failure }
            try await applyRetryPolicies(failure, error, to: request)
        }
        return Attempt(number + 1, of: operation, configuration)
    }

    /// The number of attempts that the retry policy counts, including those of shared transfers.
    var countedAttempts: Int { max(number, operation.record.countedAttempts) }

    /// Lets the interceptors and the retry policy decide about a retry, and waits for the delay that they choose.
    ///
    /// - Throws: The failure, if none of them retries.
    private func applyRetryPolicies(
        _ failure: RunFailure,
        _ error: RequestError,
        to request: HTTPRequest
    ) async throws(RunFailure) {
        let error = addContext(to: error, failure)
        let failure = RunFailure(error, in: failure.phase, response: failure.response)
        let context = self.context(for: request)
        for placed in configuration.interceptors {
            let decision = await NestingContext.run(placed.interceptor, at: placed.position, within: scope) {
                await placed.interceptor.retry(error, context: context)
            }
            switch decision {
            case .pass: continue
            case .fail(let other?):
                operation.throwingInterceptor = NestingContext.Author(placed.interceptor).type
                throw RunFailure(other, in: failure.phase)
            case .fail(nil): throw failure
            case .retry(let delay):
                guard request.body.isReplayable else { throw notReplayable(failure) }
                return try await wait(delay, because: failure)
            }
        }
        let delay = configuration.retry.delay(
            after: error,
            of: request,
            attempt: countedAttempts,
            now: environment.now(),
            random: environment.random
        )
        guard let delay else { throw failure }
        guard request.body.isReplayable else { throw notReplayable(failure) }
        try await wait(delay, because: failure)
        let count = countedAttempts + 1
        operation.record { $0.countAttempts(count) }
    }

    private func wait(
        for strategy: RetryPolicy.Strategy,
        after failure: RunFailure,
        to request: HTTPRequest
    ) async throws(RunFailure) {
        guard request.body.isReplayable else { throw notReplayable(failure) }
        let delay = strategy.backoff.delay(before: number, random: environment.random)
        if let prepare = strategy.prepare {
            let context = self.context(for: request)
            do {
                try await NestingContext.run(strategy, within: scope) { try await prepare(context) }
            } catch {
                throw RunFailure(error, in: .validating, response: failure.response)
            }
            operation.report(.prepared)
        }
        try await wait(delay, because: failure)
    }

    private func wait(_ delay: Duration, because failure: RunFailure) async throws(RunFailure) {
        if let error = failure.error as? RequestError {
            operation.report(.retryScheduled(after: delay, because: addContext(to: error, failure)))
        }
        guard delay > .zero else { return }
        do {
            try await environment.clock.wait(delay)
        } catch {
            throw RunFailure(error, in: failure.phase)
        }
    }

    private func addContext(to error: RequestError, _ failure: RunFailure) -> RequestError {
        operation.addContext(to: error, in: failure.phase, validatedResponse: failure.response)
    }

    /// Returns the failure with an additional cause: the body was a stream, which can't be sent again.
    private func notReplayable(_ failure: RunFailure) -> RunFailure {
        guard let error = failure.error as? RequestError else { return failure }
        let cause = RequestError(
            .bodyNotReplayable,
            phase: failure.phase,
            reason: "can't retry, because the body is a stream that was already sent",
            underlying: error.underlying
        )
        return RunFailure(error.caused(by: cause), in: failure.phase, response: failure.response)
    }
}

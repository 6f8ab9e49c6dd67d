// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The way back: what the end of a transfer means, and what comes of it.
///
/// A response goes through the redirects, the interceptors, the validators and the decoder; the first that doesn't let
/// it pass decides what happens instead.
extension NetworkOperation {
    /// Decides what the end of a transfer means.
    func judge(_ error: RequestError?) {
        let exchange = run.withLock { $0.exchange }
        guard let sent = exchange.request else { return }
        if let error { return consider(error, in: error.phase) }
        guard let head = exchange.head else {
            return consider(RequestError(.badResponse, phase: .receiving), in: .receiving)
        }
        switch run.withLock({ $0.exchange.redirects.handle(head, to: sent) }) {
        case .follow(let next):
            follow(next)
        case .fail(let code, let reason):
            fail(RequestError(code, phase: .validating, reason: reason), in: .validating)
        case .deliver:
            var response = HTTPResponse(head: head, body: exchange.body, attempts: exchange.attempts)
            response.makeDecoder = environment.makeDecoder
            validate(response, of: sent)
        }
    }

    private func follow(_ request: HTTPRequest) {
        do {
            var request = request
            try request.validate()
            guard case .send(let transfer) = transition(.redirected) else { return }
            send(request, transfer: transfer, cause: .redirect)
        } catch {
            fail(error, in: .validating)
        }
    }

    // MARK: Validate

    private func validate(_ response: HTTPResponse<Data>, of sent: HTTPRequest) {
        guard let request else { return }
        let options = run.withLock { $0.options }
        let attempt = attempt
        let context = ValidationContext(
            request: sent,
            identifier: request.identifier,
            attempt: attempt,
            validStatusCodes: options.validatesStatus ? request.validHTTPStatusCodes : nil
        )
        do {
            var response = response
            for interceptor in interceptors {
                try interceptor.transform(&response, context: self.context(of: request, attempt: attempt))
            }
            for validator in environment.validators + options.validators {
                switch try validator.validate(response, context: context) {
                case .accept(let replacement): response = replacement ?? response
                case .fail(let error): throw error
                case .retry(let strategy): return retry(by: strategy, instead: response, in: context)
                }
            }
            guard context.accepts(response.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
            decode(response)
        } catch {
            reject(error, response: response, in: context)
        }
    }

    /// Fails with an error that tells of the response, whatever a validator threw.
    private func reject(_ error: any Error, response: HTTPResponse<Data>, in context: ValidationContext) {
        let code: RequestError.Code = context.accepts(response.status) ? .rejected : .unacceptableStatus
        let wrapped = error as? RequestError ?? RequestError(code, phase: .validating, underlying: error)
        consider(wrapped, in: .validating)
    }

    private func retry(
        by strategy: RetryStrategy,
        instead response: HTTPResponse<Data>,
        in context: ValidationContext
    ) {
        guard let request, context.attempt <= strategy.limit else {
            let code: RequestError.Code =
                context.accepts(response.status) ? .retryLimitReached : .unacceptableStatus
            return fail(RequestError(code, phase: .validating), in: .validating)
        }
        guard context.request.body.isReplayable else {
            return fail(RequestError(.bodyNotReplayable, phase: .validating), in: .validating)
        }
        let delay = strategy.backoff.delay(before: context.attempt, random: environment.random)
        guard let prepare = strategy.prepare else { return retry(after: delay) }
        let interceptorContext = self.context(of: request, attempt: context.attempt)
        background { [self] in
            do {
                try await prepare(interceptorContext)
                retry(after: delay)
            } catch {
                fail(error, in: .validating)
            }
        }
    }

    // MARK: Retry

    /// Which try this is; redirects are none of their own.
    private var attempt: Int { run.withLock { $0.exchange.attempts.count { $0.cause != .redirect } } }

    /// Lets the interceptors and the retry policy decide whether the operation fails or tries again.
    private func consider(_ error: RequestError, in phase: RequestError.Phase) {
        let (exchange, options) = run.withLock { ($0.exchange, $0.options) }
        let interceptors = interceptors
        let policy = options.retry ?? environment.retry
        guard error.code != .cancelled, !interceptors.isEmpty || policy.limit > 0, let request,
            exchange.request?.body.isReplayable == true
        else {
            return fail(error, in: phase)
        }
        let error = complete(error, in: phase, with: exchange)
        let attempt = attempt
        guard !interceptors.isEmpty else { return follow(policy, after: error, attempt: attempt, in: phase) }
        let context = context(of: request, attempt: attempt)
        background { [self] in
            for interceptor in interceptors {
                switch await interceptor.retry(error, context: context) {
                case .pass: continue
                case .fail(let other): return fail(other ?? error, in: phase)
                case .retry(let delay): return retry(after: delay)
                }
            }
            follow(policy, after: error, attempt: attempt, in: phase)
        }
    }

    private func follow(
        _ policy: RetryPolicy,
        after error: RequestError,
        attempt: Int,
        in phase: RequestError.Phase
    ) {
        switch policy.decision(about: error, attempt: attempt, now: environment.now(), random: environment.random) {
        case .retry(let delay): retry(after: delay)
        case .pass, .fail: fail(error, in: phase)
        }
    }

    private func retry(after delay: Duration) {
        guard case .wait(let attempt) = transition(.retry) else { return }
        guard delay > .zero else { return advance(.elapsed(attempt: attempt)) }
        let work = run.withLock { $0.exchange.beginWork() }
        let timer = DelayedAction(after: delay, on: environment.clock) { self.advance(.elapsed(attempt: attempt)) }
        run.withLock { $0.exchange.keep({ timer.cancel() }, of: work) }?()
    }

    // MARK: Decode

    private func decode(_ response: HTTPResponse<Data>) {
        guard case .decode = transition(.accepted) else { return }
        let result = Result { try process(response) }
        switch result {
        case .success(let value): finish(with: .success(value))
        case .failure(let error): fail(error, in: .decoding)
        }
    }
}

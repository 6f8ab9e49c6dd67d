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
        // In one step: a cancel may come between, and a cache mustn't keep what it left.
        let (current, response) = run.withLock { run in
            run.exchange.isAbandoned ? (nil, nil) : (run.exchange.hop, run.exchange.response)
        }
        guard let hop = current else { return }
        if !keepsContentInMemory {
            switch review(error) {
            case .usual: break
            case .again(let reason):
                guard hop.outgoing.body.isReplayable else {
                    return fail(RequestError(.bodyNotReplayable, phase: .receiving, underlying: reason), in: .receiving)
                }
                run.withLock { $0.exchange.continuations += 1 }
                return retry(after: .zero, because: reason)
            case .failure(let error): return consider(error, in: .receiving)
            }
        }
        guard error == nil, let response else {
            let error = error ?? RequestError(.badResponse, phase: .receiving)
            if let response = stale(insteadOf: error, for: hop) { return judge(response, to: hop.asked) }
            return consider(error, in: error.phase)
        }
        judge(cached(response, for: hop), to: hop.asked)
    }

    /// Decides what becomes of a response, from wherever it came.
    func judge(_ response: HTTPResponse<Data>, to request: HTTPRequest) {
        switch run.withLock({ $0.exchange.redirects.handle(response.head, to: request) }) {
        case .follow(let next):
            follow(next)
        case .fail(let code, let reason):
            fail(RequestError(code, phase: .validating, reason: reason), in: .validating)
        case .deliver:
            var response = response
            response.makeDecoder = environment.makeDecoder
            validate(response, of: request)
        }
    }

    private func follow(_ request: HTTPRequest) {
        do {
            var request = request
            try request.validate()
            dispatch(request, cause: .redirect, by: .redirected)
        } catch {
            fail(error, in: .validating)
        }
    }

    // MARK: Cache

    /// What the caller gets to see of a response: after a 304 that only the cache asked for, what the cache has.
    private func cached(_ response: HTTPResponse<Data>, for hop: Hop) -> HTTPResponse<Data> {
        guard let cache = environment.cache, keepsContentInMemory,
            let requestedAt = run.withLock({ $0.exchange.requestedAt })
        else { return response }
        cache.invalidate(after: hop.complete, answeredWith: response.head)
        guard let stored = hop.stored else {
            cache.store(response, for: hop.complete, requestedAt: requestedAt)
            return response
        }
        if response.status == .notModified {
            let refreshed = cache.refresh(stored, with: response.head, for: hop.complete, requestedAt: requestedAt)
            return settle(HTTPResponse(head: refreshed.head, body: refreshed.body, attempts: response.attempts))
        }
        if response.status.category == .serverError,
            let stale = cache.answer(insteadOfError: stored, for: hop.complete)
        {
            return settle(HTTPResponse(head: stale.head, body: stale.body, attempts: response.attempts))
        }
        cache.store(response, for: hop.complete, requestedAt: requestedAt)
        return response
    }

    private func stale(insteadOf error: RequestError, for hop: Hop) -> HTTPResponse<Data>? {
        guard error.code != .cancelled, let stored = hop.stored,
            let stale = environment.cache?.answer(insteadOfError: stored, for: hop.complete)
        else { return nil }
        return settle(stale)
    }

    private func settle(_ response: HTTPResponse<Data>) -> HTTPResponse<Data> {
        run.withLock { $0.exchange.adopt(response) }
        return response
    }

    // MARK: Validate

    private func validate(_ response: HTTPResponse<Data>, of sent: HTTPRequest) {
        guard let request else { return }
        // What went elsewhere isn't there to be judged, and only responses with a good status did.
        guard run.withLock({ $0.receiver == nil }) else { return decode(response) }
        let validators = validators
        let interceptors = interceptors
        let context = validationContext(of: request, sent: sent, validators)
        var response = response
        let verdict = Result {
            try transform(&response, by: interceptors, to: sent, of: request)
            return try judge(&response, by: validators, in: context)
        }
        // From here on, errors tell of what the response has become.
        if !validators.isEmpty || !interceptors.isEmpty { _ = settle(response) }
        switch verdict {
        case .success(.retry(let strategy)): retry(by: strategy, instead: response, in: context)
        case .success(.fail(let error)), .failure(let error): reject(error, response: response, in: context)
        case .success(.accept):
            // What was refused by its head isn't where it was to go, whatever the rest of it is like.
            if let refusal = run.withLock({ $0.refusal }) { return reject(refusal, response: response, in: context) }
            decode(response)
        }
    }

    /// Those of the environment, and behind them the request's own.
    var validators: [any ResponseValidator] {
        environment.validators + run.withLock { $0.options.validators }
    }

    func validationContext(
        of request: R,
        sent: HTTPRequest,
        _ validators: [any ResponseValidator]
    ) -> ValidationContext {
        let validatesStatus = run.withLock { $0.options.validatesStatus }
        return ValidationContext(
            request: sent,
            // Which may be a digest of all that is sent.
            identifier: validators.isEmpty ? "" : request.identifier,
            attempt: attempt,
            validStatusCodes: validatesStatus ? request.validHTTPStatusCodes : nil
        )
    }

    private func transform(
        _ response: inout HTTPResponse<Data>,
        by interceptors: [any Interceptor],
        to sent: HTTPRequest,
        of request: R
    ) throws {
        let original = response
        for interceptor in interceptors {
            var context = self.context(of: request, attempt: attempt)
            context.request = sent
            try interceptor.transform(&response, context: context)
            response.inherit(original)
        }
    }

    /// What the validators say, and last the statuses of the request; the response becomes what they put in its place.
    private func judge(
        _ response: inout HTTPResponse<Data>,
        by validators: [any ResponseValidator],
        in context: ValidationContext
    ) throws -> Verdict {
        for validator in validators {
            switch try validator.validate(response, context: context) {
            case .accept(nil): continue
            case .accept(var replacement?):
                replacement.inherit(response)
                response = replacement
            case let verdict: return verdict
            }
        }
        guard context.accepts(response.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
        return .accept
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
        let reason = RequestError(.rejected, phase: .validating, reason: "a validator has it tried again")
        guard let prepare = strategy.prepare else { return retry(after: delay, because: reason) }
        let interceptorContext = self.context(of: request, attempt: context.attempt)
        background { [self] in
            do {
                try await prepare(interceptorContext)
                retry(after: delay, because: reason)
            } catch {
                fail(error, in: .validating)
            }
        }
    }

    // MARK: Retry

    /// Which try this is, whether a transport answered it or a cache; redirects are none of their own, and neither are
    /// requests for what a server left out of its answer.
    private var attempt: Int { run.withLock { $0.exchange.attempt - $0.exchange.continuations } }

    /// Lets the interceptors and the retry policy decide whether the operation fails or tries again.
    private func consider(_ error: RequestError, in phase: RequestError.Phase) {
        let (exchange, options) = run.withLock { ($0.exchange, $0.options) }
        let interceptors = interceptors
        let policy = options.retry ?? environment.retry
        guard error.code != .cancelled, mayTryAgain, !interceptors.isEmpty || policy.limit > 0, let request,
            let body = exchange.request?.body
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
                case .retry(let delay):
                    guard body.isReplayable else { return fail(RequestError(notReplayableAfter: error), in: phase) }
                    return retry(after: delay, because: error)
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
        case .retry(let delay): retry(after: delay, because: error)
        case .pass, .fail: fail(error, in: phase)
        }
    }

    private func retry(after delay: Duration, because error: RequestError) {
        guard case .wait(let attempt) = transition(.retry) else { return }
        feed?.report(.retryScheduled(after: delay, because: error))
        guard delay > .zero else { return advance(.elapsed(attempt: attempt)) }
        let work = run.withLock { $0.exchange.beginWork() }
        let timer = DelayedAction(after: delay, on: environment.clock) { self.advance(.elapsed(attempt: attempt)) }
        run.withLock { $0.exchange.keep({ timer.cancel() }, of: work) }?()
    }

    // MARK: Decode

    private func decode(_ response: HTTPResponse<Data>) {
        guard case .decode = transition(.accepted) else { return }
        conclude(response)
    }
}

extension RequestError {
    /// Says why a failure that was to be retried stands.
    fileprivate init(notReplayableAfter error: RequestError) {
        let reason = "an interceptor has it tried again, and its body can't be sent again"
        self.init(.bodyNotReplayable, phase: error.phase, reason: reason, underlying: error)
    }
}

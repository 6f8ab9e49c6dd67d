// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The making of a request: one method a phase, each entered by one input of the lifecycle, so that only one thread can
/// be in it.
extension NetworkOperation {
    // MARK: Build

    func build(_ attempt: Int) {
        if attempt == 1 { feed?.report(.operationStarted) }
        do {
            guard let request = try resolveRequest() else { return }
            if let shared = takeSharedTransfer(for: request) { return join(shared) }
            let conditions = environment.conditions + request.options.conditions
            guard attempt == 1, !conditions.isEmpty else { return make(request, attempt: attempt) }
            background { [self] in
                do {
                    for condition in conditions { try await condition.check(context(of: request, attempt: attempt)) }
                    make(request, attempt: attempt)
                } catch {
                    fail(RequestError(.conditionFailed, phase: .building, underlying: error), in: .building)
                }
            }
        } catch {
            fail(error, in: .building)
        }
    }

    private func make(_ request: R, attempt: Int) {
        // The operation may have been called off in the meantime.
        guard case .building = lifecycleState else { return }
        let reply = BuildReply { result in self.built(result, of: request, attempt: attempt) }
        request.makeHTTPRequest(in: environment) { reply($0) }
    }

    private func built(_ result: () throws -> HTTPRequest, of request: R, attempt: Int) {
        guard case .adapt = transition(.built(attempt: attempt)) else { return }
        do {
            var http = try result()
            let options = request.options
            run.withLock { $0.options = options }
            let secrets = environment.secretHeaders.union(options.secretHeaders)
            var own = OwnFields(described: http.headers, inherited: environment.headers)
            let implied = try http.inherit(environment)
            http.headers.markSecrets(secrets)
            let inheriting = http
            try prepare(&http)
            // What a signature is over is what is sent.
            http.body = http.body.encodedOnce(using: environment.makeEncoder)
            try http.authentication.authenticate(&http)
            http.headers.markSecrets(secrets)
            http.keepSecrets(of: inheriting, own: own, baseURL: environment.baseURL)
            own.authenticated = http.headers
            adapt(http, of: request, implied: implied, own: own, attempt: attempt)
        } catch {
            fail(error, in: .building)
        }
    }

    // MARK: Adapt

    private func adapt(_ http: HTTPRequest, of request: R, implied: HTTPHeaders, own: OwnFields, attempt: Int) {
        let interceptors = interceptors
        guard !interceptors.isEmpty else { return adapted(http, implied: implied, attempt: attempt) }
        let context = context(of: request, attempt: attempt)
        background { [self] in
            do {
                var request = http
                for interceptor in interceptors {
                    let former = request
                    try await interceptor.adapt(&request, context: context)
                    request.keepSecrets(of: former, own: own, baseURL: environment.baseURL)
                }
                adapted(request, implied: implied, attempt: attempt)
            } catch {
                fail(error, in: .building)
            }
        }
    }

    /// Those of the environment, and behind them the request's own.
    var interceptors: [any Interceptor] {
        environment.interceptors + run.withLock { $0.options.interceptors }
    }

    func context(of request: R, attempt: Int) -> InterceptorContext {
        let notes = run.withLock { run in
            let notes = run.notes ?? InterceptorNotes()
            run.notes = notes
            return notes
        }
        var context = InterceptorContext(
            identifier: request.identifier,
            attempt: attempt,
            baseURL: environment.baseURL,
            refreshing: refreshing,
            notes: notes
        )
        context.makeEncoder = environment.makeEncoder
        if let feed { context.report = { feed.report($0) } }
        context.send = { [self] in try await RefreshRequest.send($0, over: transport, in: environment) }
        return context
    }

    private func adapted(_ request: consuming HTTPRequest, implied: HTTPHeaders, attempt: Int) {
        do {
            // Interceptors, too, may have set a path, added to the query, or set a field whose value is a secret here.
            try request.resolve(baseURL: environment.baseURL, inheriting: [])
            request.headers.markSecrets(environment.secretHeaders.union(run.withLock { $0.options.secretHeaders }))
            do { try request.resolveBody(implied: implied, using: environment.makeEncoder) } catch {
                throw RequestError(encoding: error)
            }
            try request.validate()
            if case .leader(let shared) = run.withLock({ $0.role }), !request.method.isSafe {
                shared.refuse()
                return cancel()
            }
            run.withLock {
                $0.exchange.attempt = attempt
                $0.exchange.redirects = RedirectMachine(policy: $0.options.redirect ?? environment.redirect)
            }
            dispatch(request, cause: attempt == 1 ? .initial : .retry, by: .adapted(attempt: attempt))
        } catch {
            fail(error, in: .building)
        }
    }

    // MARK: Fail

    /// Settles the operation with an error, which gets all that is known about the request and the response.
    func fail(_ error: any Error, in phase: RequestError.Phase) {
        let error = complete(error, in: phase, with: run.withLock { $0.exchange })
        run.withLock { $0.failure = $0.failure ?? error }
        finish(throwing: error)
    }

    // Errors of the request's own stay what they are, for its own `mapError`; where the failure is a RequestError
    // anyway, and for errors that only the library can have thrown, they get the story around them.
    private func complete(_ error: any Error, in phase: RequestError.Phase, with exchange: Exchange) -> any Error {
        if let error = error as? RequestError { return complete(error, in: phase, with: exchange) }
        guard R.Failure.self == RequestError.self || error is InvalidRequest || error is DecodingError else {
            return error
        }
        return complete(RequestError(error), in: phase, with: exchange)
    }

    func complete(_ error: RequestError, in phase: RequestError.Phase, with exchange: Exchange) -> RequestError {
        error.completed(
            phase: phase,
            request: exchange.request,
            response: exchange.head,
            body: Data(exchange.body.prefix(max(0, environment.maximumErrorBodySize))),
            attempts: exchange.attempts
        )
    }

    /// Runs asynchronous work that a settlement cancels.
    func background(_ body: @escaping @Sendable () async -> Void) {
        let work = run.withLock { $0.exchange.beginWork() }
        let task = Task.detached { await body() }
        run.withLock { $0.exchange.keep({ task.cancel() }, of: work) }?()
    }
}

extension QualityOfService {
    var dispatchQoS: DispatchQoS.QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .default
        }
    }
}

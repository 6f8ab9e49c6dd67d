// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers a challenge to a request that a redirect has made, and sends that request again, not the original one.
///
/// Interceptors for a name and a password answer every challenge here. Interceptors with a refreshed credential answer
/// a challenge to the operation's own request by a retry, which builds the request again. After a redirect, a retry
/// would repeat the operation's own request. A payment that was redirected to its receipt would be made twice.
struct CredentialInterceptor: Interceptor {
    private let authenticating: [any HopAuthenticating]
    private let answering: [(interceptor: any RejectionHandling, position: Int)]

    /// Creates an interceptor from those that answer challenges; `nil` if there are none.
    init?(_ interceptors: [PlacedInterceptor]) {
        guard !interceptors.isEmpty else { return nil }
        authenticating = interceptors.compactMap { $0.interceptor as? any HopAuthenticating }
        answering = interceptors.compactMap { placed in
            (placed.interceptor as? any RejectionHandling).map { ($0, placed.position) }
        }
        if answering.isEmpty, authenticating.isEmpty { return nil }
    }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let attempt = try Attempt(of: context)
        return try await send(request, through: authenticating[...], attempt, next)
    }

    /// Sends a request through the authenticating interceptors, one inside the other.
    private func send(
        _ request: HTTPRequest,
        through authenticating: ArraySlice<any HopAuthenticating>,
        _ attempt: Attempt,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        guard let interceptor = authenticating.first else {
            return try await answered(request, attempt, next)
        }
        let context = attempt.context()
        return try await interceptor.authenticate(request, context: context, proxy: attempt.proxyRoute) {
            request,
            cause in
            try await send(request, through: authenticating.dropFirst(), attempt, cause.map(next.withCause) ?? next)
        }
    }

    private func answered(
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        let answer = try await next(request)
        guard next.cause == .redirect, answer.status.category == .clientError, request.body.isReplayable else {
            return answer
        }
        let error = RequestError(
            .unacceptableStatus,
            phase: .validating,
            request: request,
            response: answer.head,
            body: answer.body.data ?? Data(),
            transfers: answer.transfers
        )
        let context = attempt.context(for: request)
        for (interceptor, position) in answering {
            let decision = await NestingContext.run(interceptor, at: position, within: attempt.scope) {
                await interceptor.handleRejection(error, context: context)
            }
            switch decision {
            case .pass: continue
            case .fail(let other): throw other ?? error
            case .retry:
                let again = try await attempt.adapt(request, again: interceptor, at: position)
                var answer = try await next.withCause(.challenge)(again)
                // The next redirect is made from the last sent request, with its credential.
                answer.notes.redirectedRequest = Box(again)
                return answer
            }
        }
        return answer
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers a challenge to a redirected request, and sends the redirected request again rather than the original one.
///
/// Interceptors that use a user name and password answer every challenge through this interceptor, whether the request
/// was redirected or not. Interceptors that refresh their credential usually answer a challenge with a retry, which
/// rebuilds the operation's original request. After a redirect, such a retry would be wrong: if a payment was
/// redirected to its receipt, the payment would be made twice.
struct CredentialInterceptor: Interceptor {
    private let authenticating: [any HopAuthenticating]
    private let answering: [(interceptor: any RejectionHandling, position: Int)]

    /// Creates an interceptor that uses the given interceptors that answer challenges; `nil` if there are none.
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

    /// Sends a request through the authenticating interceptors, each nested in the previous one.
    private func send(
        _ request: HTTPRequest,
        through authenticating: ArraySlice<any HopAuthenticating>,
        _ attempt: Attempt,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        guard let interceptor = authenticating.first else {
            return try await sendAnsweringChallenges(request, attempt, next)
        }
        let context = attempt.context()
        return try await interceptor.authenticate(request, context: context, proxy: attempt.proxyRoute) {
            request,
            cause in
            try await send(request, through: authenticating.dropFirst(), attempt, cause.map(next.withCause) ?? next)
        }
    }

    private func sendAnsweringChallenges(
        _ request: HTTPRequest,
        _ attempt: Attempt,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        let response = try await next(request)
        guard next.cause == .redirect, response.status.category == .clientError, request.body.isReplayable else {
            return response
        }
        let error = RequestError(
            .unacceptableStatus,
            phase: .validating,
            request: request,
            response: response.head,
            body: response.body.data ?? Data(),
            transfers: response.transfers
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
                let authenticated = try await attempt.adapt(request, again: interceptor, at: position)
                var response = try await next.withCause(.challenge)(authenticated)
                // The next redirect starts from the last request that was sent, including its credential.
                response.notes.redirectedRequest = Box(authenticated)
                return response
            }
        }
        return response
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers a challenge to a request that a redirect has asked for, and sends that request again, not the one before it.
///
/// Interceptors for a name and a password answer every challenge here. Those with a credential that is refreshed answer
/// one to the operation's own request by a retry, which makes that anew. After a redirect a retry would send the
/// operation's own request once more: a payment, whose answer was a redirect to its receipt, twice.
struct CredentialLink: Interceptor {
    private let authenticating: [(interceptor: any HopAuthenticating, position: Int)]
    private let answering: [(interceptor: any ChallengeAnswering, position: Int)]

    /// Makes a link of those interceptors that answer challenges; nil without any.
    init?(_ interceptors: [any Interceptor], at positions: [Int]) {
        guard !interceptors.isEmpty else { return nil }
        authenticating = zip(interceptors, positions).compactMap { interceptor, position in
            (interceptor as? any HopAuthenticating).map { ($0, position) }
        }
        answering = zip(interceptors, positions).compactMap { interceptor, position in
            (interceptor as? any ChallengeAnswering).map { ($0, position) }
        }
        if answering.isEmpty, authenticating.isEmpty { return nil }
    }

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        try await send(request, through: authenticating[...], context, next)
    }

    /// Sends a request through those that authenticate it, one within the other.
    private func send(
        _ request: HTTPRequest,
        through authenticating: ArraySlice<(interceptor: any HopAuthenticating, position: Int)>,
        _ context: InterceptorContext,
        _ next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let (interceptor, position) = authenticating.first else {
            return try await answered(request, context, next)
        }
        return try await interceptor.authenticate(request, at: position, context: context) { request, cause in
            try await send(request, through: authenticating.dropFirst(), context, cause.map(next.because) ?? next)
        }
    }

    private func answered(
        _ request: HTTPRequest,
        _ context: InterceptorContext,
        _ next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
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
            attempts: answer.attempts
        )
        let context = InterceptorContext(context.source, request: request)
        for (interceptor, position) in answering {
            let decision = await CallScope.run(interceptor, at: position, within: context.source.scope) {
                await interceptor.answer(error, context: context)
            }
            switch decision {
            case .pass: continue
            case .fail(let other): throw other ?? error
            case .retry:
                let again = try await context.source.adapt(request, again: interceptor, at: position)
                var answer = try await next.because(.answer)(again)
                // The next redirect is made from what was sent last, with its credential.
                answer.asked = Box(again)
                return answer
            }
        }
        return answer
    }
}

extension RequestError {
    /// Whether the failed attempt has followed a redirect from a request that isn't to be sent again for that.
    ///
    /// Then a challenge was answered where it was met, and a retry for its sake would make a payment twice.
    func followsRedirect(from request: HTTPRequest?) -> Bool {
        guard let request, !request.method.isIdempotent, !request.headers.contains(.idempotencyKey),
            let start = attempts.lastIndex(where: { $0.cause == .initial || $0.cause == .retry })
        else { return false }
        return attempts[start...].contains { $0.cause == .redirect }
    }
}

/// A credential to send a request with.
struct CredentialGrant<Credential: Sendable>: Sendable {
    let credential: Credential
    /// Its number, for the request to carry.
    let generation: Int
    /// Whether it came while the request waited for it: if it is rejected, then not for its age.
    let isFresh: Bool
}

/// Why a request gets no credential.
enum CredentialRefusal: Error, Sendable {
    /// The refresh failed, with this error.
    case failed(any Error)
    /// There were too many refreshes.
    case excessive(RefreshWindow)
    /// The credential was taken away, by a logout, while the request had or awaited it.
    case loggedOut
    /// The refresh would wait for itself, by way of another.
    case circular
    /// Nobody wants it any more.
    case cancelled

    /// The error to fail with.
    var error: any Error {
        switch self {
        case .failed(let error as RequestError) where error.code == .refreshTimedOut:
            error
        case .failed(let error):
            RequestError(.authenticationFailed, phase: .building, underlying: error)
        case .excessive(let window):
            RequestError(
                .excessiveRefresh,
                phase: .building,
                reason: "\(window.limit) refreshes within \(window.duration)"
            )
        case .loggedOut:
            RequestError(.authenticationFailed, phase: .building, reason: "the credential was taken away meanwhile")
        case .circular:
            RequestError(.authenticationFailed, phase: .building, reason: "two refreshes would wait for each other")
        case .cancelled:
            CancellationError()
        }
    }
}

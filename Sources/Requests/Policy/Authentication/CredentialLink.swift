// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers a challenge to a request that a redirect has asked for, and sends that request again, not the one before it.
///
/// A challenge to the operation's own request is answered by a retry, which makes that anew. After a redirect a retry
/// would send the operation's own request once more: a payment, whose answer was a redirect to its receipt, twice.
struct CredentialLink: Interceptor {
    let answering: [any ChallengeAnswering]

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
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
        for interceptor in answering {
            switch await interceptor.answer(error, context: context) {
            case .pass: continue
            case .fail(let other): throw other ?? error
            case .retry:
                var again = request
                try await interceptor.adapt(&again, context: context)
                return try await next.because(.retry)(again)
            }
        }
        return answer
    }
}

/// An interceptor that answers a rejection with another credential.
protocol ChallengeAnswering: Interceptor {
    /// Decides about a request that was rejected, at the hop that met the rejection.
    func answer(_ error: RequestError, context: InterceptorContext) async -> RetryDecision
}

extension RequestError {
    /// Whether a request was rejected that a redirect had asked for, so that the rejection was answered there.
    var followsRedirect: Bool {
        guard let last = attempts.last else { return false }
        return last.cause == .redirect || attempts.dropLast().last?.cause == .redirect && last.cause == .retry
    }
}

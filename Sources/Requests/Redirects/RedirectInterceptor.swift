// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Follows redirects: sends the request of each, and returns the first answer that isn't a redirect.
struct RedirectInterceptor: Interceptor {
    let policy: RedirectPolicy

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let answer = try await next(request)
        guard RedirectPolicy.statuses.contains(answer.status) else { return answer }
        return try await follow(answer, to: request, next)
    }

    @inline(never)
    private func follow(
        _ answer: RawResponse,
        to request: HTTPRequest,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        var machine = RedirectMachine(policy: policy)
        let next = next.withCause(.redirect)
        var (answer, request) = (answer, request)
        while true {
            if let redirected = answer.notes.redirectedRequest { request = redirected.value }
            switch machine.handle(answer.head, to: request) {
            case .follow(let target):
                request = target
                try request.validate()
                answer = try await next(request)
            case .fail(let code, let reason):
                throw RequestError(code, phase: .validating, reason: reason)
            case .deliver:
                if machine.count > 0 { answer.notes.redirectedRequest = Box(request) }
                return answer
            }
        }
    }
}

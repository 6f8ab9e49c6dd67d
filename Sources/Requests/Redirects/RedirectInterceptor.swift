// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Follows redirects, and returns the first response that isn't a redirect.
struct RedirectInterceptor: Interceptor {
    let policy: RedirectPolicy

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let response = try await next(request)
        guard RedirectPolicy.statuses.contains(response.status) else { return response }
        return try await follow(response, to: request, next)
    }

    @inline(never)
    private func follow(
        _ response: RawResponse,
        to request: HTTPRequest,
        _ next: InterceptorChain
    ) async throws -> RawResponse {
        var machine = RedirectMachine(policy: policy)
        let next = next.withCause(.redirect)
        var (response, request) = (response, request)
        while true {
            if let redirected = response.notes.redirectedRequest { request = redirected.value }
            switch machine.handle(response.head, to: request) {
            case .follow(let target):
                request = target
                try request.validate()
                response = try await next(request)
            case .fail(let code, let reason):
                throw RequestError(code, phase: .validating, reason: reason)
            case .deliver:
                if machine.count > 0 { response.notes.redirectedRequest = Box(request) }
                return response
            }
        }
    }
}

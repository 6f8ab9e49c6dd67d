// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Waits for a token of a rate limiter before it sends the request.
struct RateLimitInterceptor: Interceptor {
    let limiter: RateLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let run = context.run
        try await Suspension.wait { resume in
            limiter.wait(on: clock, priority: { run.urgency }, onGrant: resume)
        }
        return try await next(request)
    }
}

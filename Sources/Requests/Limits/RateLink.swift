// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Waits until a rate limit lets the request go.
struct RateLink: Interceptor {
    let limiter: RateLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let source = context.source
        try await Suspension.wait { resume in
            limiter.wait(on: clock, priority: { source.urgency }, granted: resume)
        }
        return try await next(request)
    }
}

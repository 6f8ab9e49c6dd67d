// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// Waits until there is a place among the transfers to the origin, and keeps it until the transfer has ended.
struct HostLimitInterceptor: Interceptor {
    let limiter: HostLimiter

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let origin = Origin(request.url)
        let run = context.run
        try await Suspension.wait { resume in
            limiter.acquire(origin, priority: { run.urgency }, granted: resume)
        } late: { [limiter] in
            limiter.release(origin)
        }
        defer { limiter.release(origin) }
        return try await next(request)
    }
}

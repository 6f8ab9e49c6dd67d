// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// Waits for a free slot at the origin, and holds the slot until the transfer has ended.
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
            limiter.acquire(origin, priority: { run.urgency }, onGrant: resume)
        } late: { [limiter] in
            limiter.release(origin)
        }
        defer { limiter.release(origin) }
        return try await next(request)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Waits until there is a place among the transfers to the origin, and keeps it until the transfer has ended.
struct HostLink: Interceptor {
    let limiter: HostLimiter

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let origin = Origin(request.url)
        let source = context.source
        try await Suspension.wait { resume in
            limiter.enter(origin, priority: { source.urgency }, granted: resume)
        } late: { [limiter] in
            limiter.leave(origin)
        }
        defer { limiter.leave(origin) }
        return try await next(request)
    }
}

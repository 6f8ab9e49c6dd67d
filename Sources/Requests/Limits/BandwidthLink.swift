// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Waits until the bandwidth that other transfers have used up is there again.
///
/// Without it, many small transfers would know no limit: each would be over before its pause took effect.
struct BandwidthLink: Interceptor {
    let limiter: BandwidthLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        limiter.timing.adopt(clock)
        while let pause = limiter.owed { try await limiter.timing.clock.wait(pause) }
        return try await next(request)
    }
}

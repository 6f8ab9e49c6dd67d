// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Invalidates cached responses after an unsafe request (RFC 9111, 4.4) whose response isn't received in memory.
struct InvalidationInterceptor: Interceptor {
    let cache: ResponseCache

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        // Invalidate as soon as the head arrives, because the caller sees the head immediately, and a stream may never
        // end.
        try await next(request) { [cache] head in cache.invalidate(after: request, response: head) }
    }
}

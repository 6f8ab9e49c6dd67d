// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Removes outdated responses from a cache after a request that changes something, if its content isn't received in
/// memory.
struct InvalidationInterceptor: Interceptor {
    let cache: ResponseCache

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        // At the head, which the caller sees at once: a stream may have no end.
        try await next(request) { [cache] head in cache.invalidate(after: request, response: head) }
    }
}

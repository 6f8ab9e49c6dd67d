// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds the cookies for an address, and stores those of each response as soon as its head arrives.
struct CookieInterceptor: Interceptor {
    let cookies: any CookieStorage

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        var (request, next) = (request, next)
        if request.usesCookies {
            request = request.addingCookies(of: cookies)
            next = next.observed { [cookies, url = request.url] head in cookies.store(head, from: url) }
        }
        // One call, because each has a buffer for the response in the frame.
        return try await next(request)
    }
}

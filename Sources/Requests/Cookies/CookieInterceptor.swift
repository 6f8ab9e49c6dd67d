// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds the cookies for a request, and stores the cookies of each response when its head arrives.
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
        // Call `next` in only one place, because each call in the code reserves a response buffer in the stack frame.
        return try await next(request)
    }
}

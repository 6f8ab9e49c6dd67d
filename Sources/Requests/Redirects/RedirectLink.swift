// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Follows redirects: sends what each of them asks for, and returns the first answer that isn't one.
struct RedirectLink: Interceptor {
    let policy: RedirectPolicy

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        var machine = RedirectMachine(policy: policy)
        var request = request
        var next = next
        while true {
            var answer = try await next(request)
            if let asked = answer.asked { request = asked.value }
            switch machine.handle(answer.head, to: request) {
            case .follow(let target):
                request = target
                try request.validate()
                next = next.because(.redirect)
            case .fail(let code, let reason):
                throw RequestError(code, phase: .validating, reason: reason)
            case .deliver:
                if machine.count > 0 { answer.asked = Box(request) }
                return answer
            }
        }
    }
}

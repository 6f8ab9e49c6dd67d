// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An interceptor made of closures.
struct ClosureInterceptor: Interceptor {
    var adapt: @Sendable (inout HTTPRequest, InterceptorContext) async throws -> Void = { _, _ in }
    var transform: @Sendable (inout HTTPResponse<Data>, InterceptorContext) throws -> Void = { _, _ in }
    var retry: @Sendable (RequestError, InterceptorContext) async -> RetryDecision = { _, _ in .pass }

    func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        try await adapt(&request, context)
    }

    func transform(_ response: inout HTTPResponse<Data>, context: InterceptorContext) throws {
        try transform(&response, context)
    }

    func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        await retry(error, context)
    }
}

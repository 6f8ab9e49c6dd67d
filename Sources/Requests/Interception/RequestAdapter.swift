// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Changes requests on their way out, in a closure.
///
/// ```swift
/// environment.interceptors = [
///     .adapting { $0.headers["X-Request-ID"] = UUID().uuidString },
///     .signing { $0.headers["X-Signature"] = try key.signature(of: $0) },
/// ]
/// ```
public struct RequestAdapter: Interceptor {
    /// Changes a request.
    public typealias Change = @Sendable (inout HTTPRequest, InterceptorContext) async throws -> Void

    private let change: Change

    /// Makes an interceptor of a closure.
    ///
    /// - Parameter change: Changes the request, before every attempt that isn't a redirect. What it throws is the
    ///   failure of the operation.
    public init(_ change: @escaping Change) {
        self.change = change
    }

    /// Has the closure change the request.
    ///
    /// - Throws: What the closure throws.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        try await change(&request, context)
    }
}

extension Interceptor where Self == RequestAdapter {
    /// Changes every request in a closure.
    public static func adapting(
        _ change: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> RequestAdapter {
        RequestAdapter { request, _ in try await change(&request) }
    }

    /// Signs every request to the origin of the base URL, in a closure; where there is no base URL, every request.
    ///
    /// The closure sees the request as it will be sent, if this is the last interceptor. Header fields that it changes
    /// are secrets from then on: no description shows them, and no other origin receives them.
    public static func signing(
        _ sign: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) -> RequestAdapter {
        RequestAdapter { request, context in
            guard request.inherits(from: context.baseURL) else { return }
            let headers = request.headers
            try await sign(&request)
            request.headers.markSecrets(addedTo: headers)
        }
    }
}

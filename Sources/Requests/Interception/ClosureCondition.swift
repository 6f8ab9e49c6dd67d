// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A condition that is a closure.
public struct ClosureCondition: RequestCondition {
    private let body: @Sendable (InterceptorChain.Context) async throws -> Void

    /// Creates a condition from a closure, which throws an error if the condition doesn't hold.
    public init(_ body: @escaping @Sendable (InterceptorChain.Context) async throws -> Void) {
        self.body = body
    }

    /// Calls the closure.
    ///
    /// - Throws: Any error that the closure throws.
    public func check(_ context: InterceptorChain.Context) async throws {
        try await body(context)
    }
}

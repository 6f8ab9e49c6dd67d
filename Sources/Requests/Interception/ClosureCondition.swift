// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A condition that is a closure.
public struct ClosureCondition: RequestCondition {
    private let body: @Sendable (InterceptorContext) async throws -> Void

    /// Makes a condition of a closure, which throws where it doesn't hold.
    public init(_ body: @escaping @Sendable (InterceptorContext) async throws -> Void) {
        self.body = body
    }

    /// Asks the closure.
    ///
    /// - Throws: What the closure throws.
    public func check(_ context: InterceptorContext) async throws {
        try await body(context)
    }
}

extension RequestCondition where Self == ClosureCondition {
    /// Holds where a closure doesn't throw.
    public static func condition(
        _ body: @escaping @Sendable (InterceptorContext) async throws -> Void
    ) -> ClosureCondition {
        ClosureCondition(body)
    }
}

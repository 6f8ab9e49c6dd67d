// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A condition that is checked once, when an operation starts.
///
/// ```swift
/// environment.conditions.append(.condition { _ in
///     guard await consent.isGiven else { throw ConsentMissing() }
/// })
/// ```
///
/// The operation keeps its slot of the queue during the check. All conditions must hold. The environment's conditions
/// are checked first.
public protocol RequestCondition: Sendable {
    /// Returns if the condition holds, and throws an error otherwise.
    ///
    /// - Throws: The reason why the condition doesn't hold. Nothing is then sent, and the operation fails with the code
    ///   `conditionFailed` and this error as the underlying error. If the condition itself creates and throws a
    ///   ``RequestError``, such as `offline`, the operation fails with that error instead. This doesn't apply to the
    ///   failure of a request that the condition sends.
    func check(_ context: InterceptorChain.Context) async throws
}

extension RequestCondition where Self == ClosureCondition {
    /// Returns a condition that holds if a closure doesn't throw an error.
    public static func condition(
        _ body: @escaping @Sendable (InterceptorChain.Context) async throws -> Void
    ) -> ClosureCondition {
        ClosureCondition(body)
    }
}

extension RequestCondition where Self == ClosureCondition {
    /// Returns a condition that holds if another condition doesn't.
    ///
    /// ```swift
    /// let onboarding = Get<Tips>("tips").condition(.not(.condition { _ in try session.requireUser() }))
    /// ```
    ///
    /// Don't negate a condition that waits until it holds, such as `connected()` without a limit, because the check
    /// would never end. If the check is cancelled, the condition throws a `CancellationError`.
    public static func not<Condition: RequestCondition>(_ condition: Condition) -> ClosureCondition {
        ClosureCondition { context in
            do {
                try await condition.check(context)
            } catch {
                return try Task.checkCancellation()
            }
            throw NegatedConditionHolds()
        }
    }
}

/// The error of a negated condition, when the condition itself holds.
struct NegatedConditionHolds: ExplainedError, DescribedError {
    /// The error as a sentence.
    var description: String { "the negated condition is satisfied" }
}

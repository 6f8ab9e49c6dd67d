// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A condition for an operation's work: checked once, when the operation starts.
///
/// ```swift
/// environment.conditions.append(.condition { _ in
///     guard await consent.isGiven else { throw ConsentMissing() }
/// })
/// ```
///
/// The operation keeps its place in the queue during the check. All conditions must hold; those of the environment are
/// checked first.
public protocol RequestCondition: Sendable {
    /// Returns if the condition holds.
    ///
    /// - Throws: The reason why it doesn't hold; then nothing is sent. It becomes the underlying error of a failure of
    ///   code `conditionFailed`. A ``RequestError`` that the condition makes itself, such as `offline`, is the failure;
    ///   the failure of a request that it sends isn't.
    func check(_ context: InterceptorChain.Context) async throws
}

extension RequestCondition where Self == ClosureCondition {
    /// Holds if a closure doesn't throw.
    public static func condition(
        _ body: @escaping @Sendable (InterceptorChain.Context) async throws -> Void
    ) -> ClosureCondition {
        ClosureCondition(body)
    }
}

extension RequestCondition where Self == ClosureCondition {
    /// Holds if another condition doesn't.
    ///
    /// ```swift
    /// let onboarding = Get<Tips>("tips").condition(.not(.condition { _ in try session.requireUser() }))
    /// ```
    ///
    /// The negation of a condition that waits until it holds, such as `connected()` without a limit, never ends. A
    /// cancellation says nothing about the condition, and is thrown as it is.
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

/// Why an operation isn't run: a negated condition holds.
struct NegatedConditionHolds: ExplainedError, DescribedError {
    /// The error, in a sentence.
    var description: String { "a condition holds that must not hold" }
}

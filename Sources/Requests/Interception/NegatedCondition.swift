// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Holds where another condition doesn't.
///
/// ```swift
/// let onboarding = Get<Tips>("tips").condition(.not(.condition { _ in try session.requireUser() }))
/// ```
///
/// One that waits until it holds, as ``ConnectivityCondition`` without a limit does, never comes to an end here.
public struct NegatedCondition<Condition: RequestCondition>: RequestCondition {
    private let condition: Condition

    /// Why the operation isn't run: the other condition holds.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The error, in a sentence.
        public var description: String { "a condition holds that mustn't" }
    }

    /// Makes a condition of its opposite.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// Returns where the other condition throws.
    ///
    /// - Throws: ``Failure`` where it doesn't, and `CancellationError` where the operation is cancelled meanwhile, which
    ///   says nothing about the condition.
    public func check(_ context: InterceptorContext) async throws {
        do {
            try await condition.check(context)
        } catch {
            return try Task.checkCancellation()
        }
        throw Failure()
    }
}

extension RequestCondition {
    /// Holds where a condition doesn't.
    public static func not<Condition>(_ condition: Condition) -> Self where Self == NegatedCondition<Condition> {
        NegatedCondition(condition)
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Something that has to hold before an operation does anything: checked once, when it starts.
///
/// ```swift
/// environment.conditions.append(.condition { _ in
///     guard await consent.isGiven else { throw ConsentMissing() }
/// })
/// ```
///
/// The operation keeps its place in the queue while it is checked. All have to hold, in their order, those of the
/// environment first.
public protocol RequestCondition: Sendable {
    /// Returns where the condition holds.
    ///
    /// - Throws: What is missing, and nothing is sent. It becomes the underlying error of a failure of code
    ///   `conditionFailed`. A ``RequestError`` that the condition makes itself is the failure, such as `offline`; the
    ///   failure of a request that it sends isn't.
    func check(_ context: InterceptorContext) async throws
}

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
    public struct Failure: ExplainedError, Sendable, CustomStringConvertible, LocalizedError {
        /// The error, in a sentence.
        public var description: String { "a condition holds that mustn't" }

        /// The error, for people.
        public var errorDescription: String? { description }
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

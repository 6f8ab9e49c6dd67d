// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
    /// - Throws: What is missing. It becomes the underlying error of a failure of code `conditionFailed`, and nothing
    ///   is sent.
    func check(_ context: InterceptorContext) async throws
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a test awaited didn't happen in time, or can't happen any more.
///
/// A wait of this module ends after 30 seconds, unless the test passes another limit. The limit is real time, whatever
/// a ``ManualClock`` shows.
public struct WaitTimeoutError: ExplainedError, DescribedError, Sendable, Hashable {
    /// The maximum time of the wait.
    public let limit: Duration
    /// What was awaited: "2 requests".
    public let awaited: String
    /// What had happened until then: "the server has 1 request and 1 open connection".
    public let state: String
    private let place: SourcePlace

    package init(limit: Duration, awaited: String, state: String, place: SourcePlace) {
        (self.limit, self.awaited, self.state, self.place) = (limit, awaited, state, place)
    }

    /// The place of the wait in the test, and the error in a sentence.
    public var description: String { "\(place): waited for \(limit) for \(awaited); \(state)" }
}

/// Waits at most for a time.
///
/// - Parameters:
///   - limit: The maximum time, in real time.
///   - error: Makes the error at the end of that time, from what has happened so far.
///   - body: Waits; it ends when its task is cancelled.
/// - Throws: The error of the body, or the one at the limit.
func waiting(
    timeout limit: Duration,
    orThrow error: @escaping @Sendable () -> any Error,
    body: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit.clamped)
            throw error()
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

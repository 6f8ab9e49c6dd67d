// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a test awaited didn't happen in time.
///
/// A wait of this module ends after 30 seconds, unless the test passes another limit. The limit is real time, whatever
/// a ``ManualClock`` shows.
public struct WaitTimeoutError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The maximum time of the wait.
    public var limit: Duration
    /// What was awaited: "2 transfers".
    public var awaited: String
    /// What had happened until then: "1 has started: GET /recipes/1".
    public var state: String

    /// The error in a sentence.
    public var description: String { "waited for \(limit) for \(awaited); \(state)" }
}

/// Waits at most for a time.
///
/// - Parameters:
///   - limit: The maximum time.
///   - clock: The clock that measures it.
///   - error: Makes the error at the end of that time, from what has happened so far.
///   - body: Waits; it ends when its task is cancelled.
/// - Throws: The error of the body, or the one at the limit.
func waiting(
    within limit: Duration,
    clock: any Clock<Duration> = ContinuousClock(),
    orThrow error: @escaping @Sendable () -> any Error,
    body: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await clock.sleep(for: limit.clamped)
            throw error()
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Polls until a condition is true, for conditions without a notification; throws if the test is cancelled.
public func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
}

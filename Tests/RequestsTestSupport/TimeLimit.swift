// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests
import Testing

/// The time limit of one test, which begins when its body does.
///
/// Its timers use a separate Dispatch queue, so they fire even if every thread of the cooperative pool is blocked.
struct TimeLimit {
    private static let timers = DispatchQueue(label: "TimeLimit")
    /// The time between the limit and the end of the process, for a body that doesn't end when it is cancelled.
    private static let grace: TimeInterval = 30

    let test: Test
    let seconds: TimeInterval

    /// Runs a body, cancels it at the limit, and records an issue in that case.
    ///
    /// A test that hangs would keep the whole run from ending, so it ends the process and names the test.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let isExceeded = Locked(false)
        let task = Task { try await ThreadExecutor.run(body) }
        let limit = DispatchWorkItem {
            isExceeded.withLock { $0 = true }
            task.cancel()
        }
        let end = DispatchWorkItem { [test] in
            FileHandle.standardError.write(Data("error: \(test.name) hangs, at \(test.sourceLocation)\n".utf8))
            exit(EXIT_FAILURE)
        }
        Self.timers.asyncAfter(deadline: .now() + seconds, execute: limit)
        Self.timers.asyncAfter(deadline: .now() + seconds + Self.grace, execute: end)
        defer {
            limit.cancel()
            end.cancel()
            if isExceeded.withLock({ $0 }) { Issue.record("The test took longer than \(seconds) s.") }
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

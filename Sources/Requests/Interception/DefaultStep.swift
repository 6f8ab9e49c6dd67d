// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Notes whether an interceptor has left a step to the protocol's default.
final class DefaultStep: Sendable {
    private let flag = Locked(false)

    var isReached: Bool { flag.withLock { $0 } }

    /// Notes that the default implementation of a step was called.
    func reach() { flag.withLock { $0 = true } }
}

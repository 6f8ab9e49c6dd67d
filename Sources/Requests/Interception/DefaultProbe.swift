// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Records whether an interceptor uses the protocol's default implementation.
final class DefaultProbe: Sendable {
    private let flag = Locked(false)

    var wasCalled: Bool { flag.withLock { $0 } }

    /// Notes that the default implementation of a step was called.
    func reach() { flag.withLock { $0 = true } }
}

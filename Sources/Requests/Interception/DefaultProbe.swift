// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Records whether an interceptor uses the protocol's default implementation of a method.
final class DefaultProbe: Sendable {
    private let flag = Locked(false)

    var wasCalled: Bool { flag.withLock { $0 } }

    func markCalled() { flag.withLock { $0 = true } }
}

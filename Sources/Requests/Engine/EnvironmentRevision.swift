// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Tells one state of an environment from the next: two environments of one revision are the same, as far as nobody has
/// changed a copy.
///
/// Most of what an environment has can't be compared.
struct EnvironmentRevision: Sendable, Hashable {
    private static let last = Locked<UInt64>(0)

    private let number: UInt64

    /// A new one, which nothing has had before.
    init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }
}

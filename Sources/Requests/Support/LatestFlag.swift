// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Forwards changes to a Boolean value from several threads to a single receiver, which ends up with the latest value.
///
/// The flag is part of the state of a ``Locked``, whose `drain` calls the receiver. While one thread is calling it, no
/// other thread emits `false`. But `true` is emitted immediately, because it stops something, and the thread that is
/// calling may be suspended for a long time. The two calls may then reach the receiver in any order, so the latest
/// value is emitted again afterwards.
package struct LatestFlag: Sendable {
    private var emitted = false
    private var activeCalls = 0
    private var hasOverlap = false

    /// Creates a flag for a receiver whose value is `false`.
    package init() {}

    /// Returns the value to emit, or `nil` if the receiver already has it or if another thread will emit it.
    package mutating func next(_ latest: Bool) -> Bool? {
        if activeCalls > 0 {
            guard latest, !emitted else { return nil }
            hasOverlap = true
        } else {
            guard latest != emitted || hasOverlap else { return nil }
            hasOverlap = false
        }
        (emitted, activeCalls) = (latest, activeCalls + 1)
        return latest
    }

    /// Records that a call to the receiver has returned.
    package mutating func didEmit() {
        activeCalls -= 1
    }
}

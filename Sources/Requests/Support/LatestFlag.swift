// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Passes a Boolean that several threads change on to one receiver, which ends with the latest value.
///
/// A flag is a part of the state of a ``Locked``, whose `drain` passes the values on. Only `true` doesn't wait for
/// another thread: it stops something, and the thread that passes on `false` may be suspended for long. Both may then
/// reach the receiver in any order, so the latest value is passed on once more.
package struct LatestFlag: Sendable {
    private var passed = false
    private var passers = 0
    private var hasCrossed = false

    /// Creates a flag whose receiver has `false`.
    package init() {}

    /// Returns the value to pass on; `nil` if the receiver has it, or if another thread is passing one on.
    package mutating func next(_ latest: Bool) -> Bool? {
        if passers > 0 {
            guard latest, !passed else { return nil }
            hasCrossed = true
        } else {
            guard latest != passed || hasCrossed else { return nil }
            hasCrossed = false
        }
        (passed, passers) = (latest, passers + 1)
        return latest
    }

    /// Records that the receiver was called.
    package mutating func didEmit() {
        passers -= 1
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Passes a Boolean, which several threads change, to a receiver that isn't called under a lock.
///
/// One thread at a time passes it on, and checks again afterwards, so that the receiver ends with the newest value.
/// Only `true` doesn't wait: it stops something, and the thread that passes on `false` may be suspended for long. Then
/// both may reach the receiver in any order, and the newest value is passed on once more.
struct Level: Sendable {
    private var passed = false
    private var passers = 0
    private var hasCrossed = false

    /// Returns the value to pass on; `nil` if the receiver knows it, or another thread is passing one on.
    ///
    /// Afterwards, call ``endPassing()``, and this again.
    mutating func next(_ present: Bool) -> Bool? {
        if passers > 0 {
            guard present, !passed else { return nil }
            hasCrossed = true
        } else {
            guard present != passed || hasCrossed else { return nil }
            hasCrossed = false
        }
        (passed, passers) = (present, passers + 1)
        return present
    }

    /// Records that the receiver was called.
    mutating func endPassing() {
        passers -= 1
    }
}

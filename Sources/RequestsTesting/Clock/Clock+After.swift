// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension Clock where Duration == Swift.Duration {
    /// Runs an action when a time has passed, counted from this call, unless the task is cancelled before.
    ///
    /// On a ``ManualClock`` nobody waits for this to sleep.
    func after(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let deadline = now.advanced(by: time.sleepable)
        return Task {
            do {
                if let clock = self as? ManualClock, let deadline = deadline as? ManualClock.Instant {
                    try await clock.sleepUncounted(until: deadline)
                } else {
                    try await sleep(until: deadline, tolerance: nil)
                }
            } catch { return }
            action()
        }
    }
}

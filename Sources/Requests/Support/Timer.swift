// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Runs an action when a clock has moved on by a duration, unless the timer is cancelled before.
///
/// Built on Swift's own `Clock`, so that a test's manual clock drives every wait of the library.
struct Timer: Sendable {
    private let task: Task<Void, Never>

    /// Starts the timer.
    init(after duration: Duration, on clock: any Clock<Duration>, _ action: @escaping @Sendable () -> Void) {
        task = Task.detached {
            guard (try? await clock.sleep(for: duration)) != nil, !Task.isCancelled else { return }
            action()
        }
    }

    /// Stops the timer.
    ///
    /// An action that has begun already runs to its end.
    func cancel() {
        task.cancel()
    }
}

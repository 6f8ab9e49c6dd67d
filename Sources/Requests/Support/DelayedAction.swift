// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Runs an action when a clock has moved on by a duration, unless it is cancelled before.
///
/// Built on Swift's own `Clock`, so that a test's manual clock drives every wait of the library.
struct DelayedAction: Sendable {
    private let task: Task<Void, Never>

    /// Starts to wait.
    ///
    /// Clocks trap on durations that they can't add to their time, and a duration may be a server's: one of more than
    /// thirty years is taken for thirty years.
    init(after duration: Duration, on clock: any Clock<Duration>, _ action: @escaping @Sendable () -> Void) {
        let duration = min(duration, .seconds(1_000_000_000))
        task = Task.detached {
            guard (try? await clock.sleep(for: duration)) != nil, !Task.isCancelled else { return }
            action()
        }
    }

    /// Stops waiting.
    ///
    /// An action that has begun already runs to its end.
    func cancel() {
        task.cancel()
    }
}

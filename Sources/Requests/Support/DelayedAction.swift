// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// Runs an action when a clock has advanced by a duration, unless it is cancelled before.
///
/// The system's two clocks are waited for by Dispatch, so that a deadline holds also while callers block every thread
/// of the cooperative pool. Any other clock, such as a test's manual one, is asked to sleep, which takes such a thread.
package struct DelayedAction: Sendable {
    /// Stops waiting; an action that has begun already runs to its end.
    package let cancel: @Sendable () -> Void

    /// Starts to wait.
    ///
    /// A negative duration is over at once, and more than thirty years count as thirty years. The time that a device
    /// sleeps counts only for clocks that aren't the system's.
    package init(
        after duration: Duration,
        on clock: any Clock<Duration>,
        _ action: @escaping @Sendable () -> Void
    ) {
        let duration = duration.clamped
        if clock is ContinuousClock || clock is SuspendingClock {
            let timer = Timer(after: duration, action)
            cancel = { timer.cancel() }
        } else {
            let sleep = Self.sleep(for: duration, on: clock)
            let task = Task.detached {
                guard (try? await sleep()) != nil, !Task.isCancelled else { return }
                action()
            }
            cancel = { task.cancel() }
        }
    }

    /// Returns a sleep whose duration counts from this call: its task may get a thread much later.
    private static func sleep(
        for duration: Duration,
        on clock: some Clock<Duration>
    ) -> @Sendable () async throws -> Void {
        let deadline = clock.now.advanced(by: duration)
        return { try await clock.sleep(until: deadline, tolerance: nil) }
    }
}

/// A timer that fires once.
///
/// A source rather than a delayed block, which would keep what it captured until its time, also after a cancel.
private final class Timer: Sendable {
    // Concurrent, so that an action that blocks keeps no other from its time.
    private static let queue = DispatchQueue(label: "Requests.timers", attributes: .concurrent)

    private let source = Locked<(any DispatchSourceTimer)?>(nil)

    init(after duration: Duration, _ action: @escaping @Sendable () -> Void) {
        source.withLock { source in
            let timer = DispatchSource.makeTimerSource(queue: Self.queue)
            timer.schedule(deadline: .now() + .nanoseconds(duration.clampedNanoseconds))
            timer.setEventHandler {
                if self.cancel() { action() }
            }
            timer.activate()
            source = timer
        }
    }

    /// Stops the timer, and returns false if it was stopped before.
    ///
    /// The source releases the action on its own queue, not under the lock.
    @discardableResult
    func cancel() -> Bool {
        source.withLock { source in
            source?.cancel()
            defer { source = nil }
            return source != nil
        }
    }
}

// MARK: - Durations

/// All arithmetic on durations that callers and servers choose begins here: clocks, conversions and multiplications
/// trap on durations out of their range.
extension Duration {
    /// The longest duration, about thirty years.
    package static let longest = Duration.seconds(1_000_000_000)

    /// Makes a duration of a number of seconds: NaN counts as zero, infinity as about thirty years.
    package init(clampedSeconds seconds: Double) {
        self = .seconds(seconds > 0 ? min(seconds, 1e9) : 0)
    }

    /// The duration, from zero to about thirty years.
    package var clamped: Duration { min(max(self, .zero), .longest) }

    /// The duration in nanoseconds, from zero to about thirty years.
    package var clampedNanoseconds: Int {
        let (seconds, attoseconds) = clamped.components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    /// The duration in seconds, from zero to about thirty years.
    package var clampedSeconds: Double { clamped / .seconds(1) }
}

// MARK: - Clocks

extension Clock where Duration == Swift.Duration {
    /// Returns when the clock has advanced by a duration, or throws if the task is cancelled before.
    ///
    /// The system's clocks are waited for without a thread of the cooperative pool.
    func wait(_ duration: Duration) async throws {
        try await Suspension.wait { resume in
            let timer = DelayedAction(after: duration, on: self) { RunExecutor.resuming { resume() } }
            return { timer.cancel() }
        }
    }
}

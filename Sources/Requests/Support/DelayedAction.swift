// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// Runs an action when a clock has advanced by a duration, unless the action is cancelled first.
///
/// For the two clocks of the system, Dispatch provides the timer, so that the action runs on time even if callers block
/// all threads of the cooperative pool. Any other clock, such as the manual clock of a test, must sleep in a task,
/// which needs a thread of that pool.
package struct DelayedAction: Sendable {
    /// Cancels the action, unless it has already begun.
    package let cancel: @Sendable () -> Void

    /// Schedules the action.
    ///
    /// A negative duration counts as zero, and a duration of more than about thirty years as about thirty years. With
    /// the clocks of the system, the time while the device sleeps doesn't count.
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
            let sleep = Self.makeSleep(for: duration, on: clock)
            let task = Task.detached {
                guard (try? await sleep()) != nil, !Task.isCancelled else { return }
                action()
            }
            cancel = { task.cancel() }
        }
    }

    /// Returns a closure that sleeps until a deadline, which is computed now because the task may start much later.
    private static func makeSleep(
        for duration: Duration,
        on clock: some Clock<Duration>
    ) -> @Sendable () async throws -> Void {
        let deadline = clock.now.advanced(by: duration)
        return { try await clock.sleep(until: deadline, tolerance: nil) }
    }
}

/// A timer that fires once.
///
/// The timer is a dispatch source, because a delayed block would retain what it captures until its deadline, even after
/// a cancellation.
private final class Timer: Sendable {
    // The queue is concurrent, so that an action that blocks doesn't delay other timers.
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

    /// Cancels the timer; returns `false` if it was already cancelled or has fired.
    ///
    /// The action isn't released under the lock, because the source releases it on its own queue.
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

/// Clamps durations from callers and servers before any arithmetic, because clocks, conversions and multiplications
/// trap if a duration is out of range.
extension Duration {
    /// The longest duration that the library uses, about thirty years.
    package static let longest = Duration.seconds(1_000_000_000)

    /// Creates a duration from seconds, clamped to the range from zero to about thirty years; NaN counts as zero.
    package init(clampedSeconds seconds: Double) {
        self = .seconds(seconds > 0 ? min(seconds, 1e9) : 0)
    }

    /// The duration, clamped to the range from zero to about thirty years.
    package var clamped: Duration { min(max(self, .zero), .longest) }

    /// The clamped duration in nanoseconds.
    package var clampedNanoseconds: Int {
        let (seconds, attoseconds) = clamped.components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    /// The clamped duration in seconds.
    package var clampedSeconds: Double { clamped / .seconds(1) }
}

// MARK: - Clocks

extension Clock where Duration == Swift.Duration {
    /// Waits until the clock has advanced by a duration; throws `CancellationError` if the task is cancelled first.
    ///
    /// With the clocks of the system, the wait needs no thread of the cooperative pool.
    func wait(_ duration: Duration) async throws {
        try await Suspension.wait { resume in
            let timer = DelayedAction(after: duration, on: self) { RunExecutor.resuming { resume() } }
            return { timer.cancel() }
        }
    }
}

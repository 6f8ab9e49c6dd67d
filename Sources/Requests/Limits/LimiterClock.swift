// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The clock of a limiter: its own if it was given one, else that of the environment that it is first used in.
final class LimiterClock: Sendable {
    private struct Timing: Sendable {
        let clock: any Clock<Duration>
        let time: @Sendable () -> Duration

        init(_ clock: any Clock<Duration>) {
            self.clock = clock
            time = clock.stopwatch()
        }
    }

    private let timing: Locked<Timing?>

    init(_ own: (any Clock<Duration>)?) {
        timing = Locked(own.map(Timing.init))
    }

    /// Takes over the clock of an environment, unless there is one already.
    func adopt(_ clock: any Clock<Duration>) {
        guard timing.withLock({ $0 == nil }) else { return }
        let new = Timing(clock)
        timing.withLock { if $0 == nil { $0 = new } }
    }

    /// The clock; the system's before anything else is known.
    var clock: any Clock<Duration> { settled.clock }

    /// The time since the limiter was made or first used.
    func now() -> Duration { settled.time() }

    private var settled: Timing {
        if let timing = timing.withLock({ $0 }) { return timing }
        adopt(ContinuousClock())
        return timing.withLock { $0 } ?? Timing(ContinuousClock())
    }
}

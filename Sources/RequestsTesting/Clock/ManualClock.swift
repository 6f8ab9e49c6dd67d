// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A clock that stands still until it is advanced: time for tests, without waiting for it.
///
/// Give it to whatever takes a clock, wait until that sleeps, then let the time pass:
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(60)); return "done" }
/// try await clock.waitForSleepers()      // not before it sleeps would advancing mean anything
/// clock.advance(by: .seconds(60))
/// try await task.value                   // "done"
/// ```
///
/// All members may be used from any thread. Tasks are woken in the order of their deadlines, those with the same one in
/// the order in which they fell asleep; in which order they then run is the executor's choice.
public final class ManualClock: Clock, Sendable {
    /// The lengths of time that the clock measures.
    public typealias Duration = Swift.Duration

    /// A point in the time of a ``ManualClock``: how far it has been advanced.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was made.
        public var offset: Swift.Duration

        /// Makes a point in time, by default the one at which a clock is made.
        public init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        /// The point so much later.
        public func advanced(by duration: Swift.Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// How much later the other point is.
        public func duration(to other: Instant) -> Swift.Duration {
            other.offset - offset
        }

        /// Orders points from the earlier to the later.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }

        /// The time since the clock was made.
        public var description: String { "\(offset)" }
    }

    private typealias Sleep = CheckedContinuation<Void, any Error>

    private let timeline: Locked<Timeline<Sleep>>

    /// Makes a clock that shows a time, by default zero.
    public init(now: Instant = Instant()) {
        timeline = Locked(Timeline(now: now))
    }

    /// The time that the clock shows.
    public var now: Instant { timeline.withLock { $0.now } }

    /// The smallest step that can be told apart: none is too small.
    public var minimumResolution: Swift.Duration { .zero }

    /// How many tasks are asleep.
    public var sleeperCount: Int { timeline.withLock { $0.sleeperCount } }

    /// Sleeps until the clock has been advanced to the deadline; returns at once where it has.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        try Task.checkCancellation()
        try await suspend { $0.sleep($1, until: deadline, $2) }
    }

    /// Sleeps as the other form does, but isn't waited for by ``waitForSleepers(_:)``.
    ///
    /// For a limit to what others do, which a test doesn't mean when it waits for them to sleep.
    func sleepUncounted(until deadline: Instant) async throws {
        try Task.checkCancellation()
        try await suspend { $0.sleep($1, until: deadline, $2, isCounted: false) }
    }

    /// Waits until at least so many tasks are asleep; returns at once where they are.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async throws {
        try await suspend { $0.watch($1, for: count, $2) }
    }

    /// Lets time pass, and wakes the tasks whose deadline is reached.
    public func advance(by duration: Swift.Duration) {
        let due = timeline.withLock { $0.advance(to: $0.now.advanced(by: duration)) }
        for sleep in due { sleep.resume() }
    }

    /// Lets time pass up to a point, and wakes the tasks whose deadline is reached; time never goes back.
    public func advance(to instant: Instant) {
        let due = timeline.withLock { $0.advance(to: instant) }
        for sleep in due { sleep.resume() }
    }

    private func suspend(
        _ register: @Sendable (inout Timeline<Sleep>, Int, Sleep) -> [Sleep]
    ) async throws {
        let id = timeline.withLock { $0.makeIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Sleep) in
                let awake = timeline.withLock { timeline -> [Sleep]? in
                    // A cancellation before this point found nobody to end; the flag, set before, tells of it.
                    Task.isCancelled ? nil : register(&timeline, id, continuation)
                }
                guard let awake else { return continuation.resume(throwing: CancellationError()) }
                for sleep in awake { sleep.resume() }
            }
        } onCancel: {
            timeline.withLock { $0.remove(id) }?.resume(throwing: CancellationError())
        }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A clock whose time changes only when a test advances it, so that tests don't wait.
///
/// Pass it to the code under test, wait until that code sleeps, then advance the time:
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(60)); return "done" }
/// try await clock.waitForSleepers()      // advancing has no effect before it sleeps
/// clock.advance(by: .seconds(60))
/// try await task.value                   // "done"
/// ```
///
/// A clock is thread-safe. Tasks are woken in the order of their deadlines, or in the order in which they went to sleep
/// if the deadlines are equal. The executor decides in which order they then run.
public final class ManualClock: Clock, Sendable {
    /// The type of the clock's durations.
    public typealias Duration = Swift.Duration

    /// An instant of a ``ManualClock``: the total time by which the clock was advanced.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was created.
        public var offset: Swift.Duration

        /// Creates an instant; by default, the instant at which clocks start.
        public init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is later by `duration`.
        public func advanced(by duration: Swift.Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the time from this instant to another.
        public func duration(to other: Instant) -> Swift.Duration {
            other.offset - offset
        }

        /// Returns whether an instant is earlier than another.
        public static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }

        /// The time since the clock was created.
        public var description: String { "\(offset)" }
    }

    private struct Sleeper: Sendable {
        let id: Int
        let deadline: Instant
        /// Whether ``waitForSleepers(_:timeout:file:line:)`` counts this sleeper.
        let isCounted: Bool
        let wake: @Sendable () -> Void
    }

    private struct State: Sendable {
        var now: Instant
        /// The sleepers in the order of their deadlines, or in order of arrival if the deadlines are equal.
        var sleepers: [Sleeper] = []
        var lastID = 0

        var sleeperCount: Int { sleepers.count { $0.isCounted } }

        /// Advances the time, which never goes back; removes the sleepers that are due, and returns their `wake`
        /// closures.
        mutating func advance(to instant: Instant) -> [@Sendable () -> Void] {
            now = max(now, instant)
            let due = sleepers.prefix { $0.deadline <= now }
            sleepers.removeFirst(due.count)
            return due.map(\.wake)
        }
    }

    private let state: AwaitableState<State>

    /// Creates a clock that starts at `now`, by default at zero.
    public init(now: Instant = Instant()) {
        state = AwaitableState(State(now: now))
    }

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// The resolution of the clock: zero, because the clock distinguishes any two instants.
    public var minimumResolution: Swift.Duration { .zero }

    /// The number of tasks that are asleep.
    public var sleeperCount: Int { state.withLock { $0.sleeperCount } }

    /// Sleeps until the clock has been advanced to the deadline; returns immediately if it already has.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        try await sleep(until: deadline, isCounted: true)
    }

    /// Sleeps until the deadline; `isCounted` is whether ``waitForSleepers(_:timeout:file:line:)`` counts the task.
    ///
    /// Timeouts aren't counted, because a test that waits for sleepers isn't interested in them.
    func sleep(until deadline: Instant, isCounted: Bool) async throws {
        try Task.checkCancellation()
        try await Suspension.wait { resume in
            let (id, isOver) = state.withLock { state in
                state.lastID += 1
                guard deadline > state.now else { return (state.lastID, true) }
                let sleeper = Sleeper(id: state.lastID, deadline: deadline, isCounted: isCounted, wake: resume)
                let position = state.sleepers.firstIndex { $0.deadline > deadline } ?? state.sleepers.endIndex
                state.sleepers.insert(sleeper, at: position)
                return (state.lastID, false)
            }
            if isOver { resume() }
            return { [state] in state.withLock { $0.sleepers.removeAll { $0.id == id } } }
        }
    }

    /// Waits until at least `count` tasks are asleep; returns immediately if they already are.
    ///
    /// - Parameters:
    ///   - count: The number of tasks; 1 by default.
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Throws: ``WaitTimeoutError`` when the limit is reached, with the current sleepers, or `CancellationError` as
    ///   soon as the task is cancelled.
    public func waitForSleepers(
        _ count: Int = 1,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try Task.checkCancellation()
        try await state.wait(for: count.counting("sleeper"), timeout: limit, at: CallSite(file, line)) { state in
            let deadlines = state.sleepers.filter(\.isCounted).map { "until \($0.deadline)" }
            let list = deadlines.isEmpty ? "" : " (\(deadlines.joined(separator: ", ")))"
            return "sleepers: \(deadlines.count)\(list), clock: \(state.now)"
        } until: {
            $0.sleeperCount >= count
        }
    }

    /// Advances the time by a duration, and wakes the tasks whose deadlines are reached.
    public func advance(by duration: Swift.Duration) {
        for wake in state.withLock({ $0.advance(to: $0.now.advanced(by: duration)) }) { wake() }
    }

    /// Advances the time to an instant, and wakes the tasks whose deadlines are reached; an earlier instant changes
    /// nothing.
    public func advance(to instant: Instant) {
        for wake in state.withLock({ $0.advance(to: instant) }) { wake() }
    }
}

// MARK: - After

extension Clock where Duration == Swift.Duration {
    /// Runs an action after a delay that starts with this call, unless the returned task is cancelled first.
    ///
    /// On a ``ManualClock``, ``ManualClock/waitForSleepers(_:timeout:file:line:)`` doesn't count the sleep.
    func after(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let deadline = now.advanced(by: time.clamped)
        return Task {
            do {
                if let clock = self as? ManualClock, let deadline = deadline as? ManualClock.Instant {
                    try await clock.sleep(until: deadline, isCounted: false)
                } else {
                    try await sleep(until: deadline, tolerance: nil)
                }
            } catch { return }
            action()
        }
    }
}

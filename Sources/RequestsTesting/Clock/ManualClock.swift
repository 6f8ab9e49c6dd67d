// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A clock whose time changes only when it is advanced, so that tests don't wait.
///
/// Pass it to the code that takes a clock, wait until that code sleeps, then advance the time:
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(60)); return "done" }
/// try await clock.waitForSleepers()      // advancing has no effect before it sleeps
/// clock.advance(by: .seconds(60))
/// try await task.value                   // "done"
/// ```
///
/// All members may be used from any thread. Tasks are woken in the order of their deadlines. Tasks with the same
/// deadline are woken in the order in which they fell asleep. The executor decides in which order they then run.
public final class ManualClock: Clock, Sendable {
    /// The type of the clock's durations.
    public typealias Duration = Swift.Duration

    /// A point in the time of a ``ManualClock``: the total time that it was advanced.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was made.
        public var offset: Swift.Duration

        /// Makes a point in time, by default the one at which a clock is made.
        public init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        /// Returns the point that is later by `duration`.
        public func advanced(by duration: Swift.Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the time from this point to the other.
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

    private struct Sleeper: Sendable {
        let id: Int
        let deadline: Instant
        /// Whether ``waitForSleepers(_:timeout:file:line:)`` counts this one.
        let isCounted: Bool
        let wake: @Sendable () -> Void
    }

    private struct State: Sendable {
        var now: Instant
        /// The sleepers in the order of their deadlines; with the same deadline, in the order of arrival.
        var sleepers: [Sleeper] = []
        var lastID = 0

        var sleeperCount: Int { sleepers.count { $0.isCounted } }

        /// Sets the time, which never goes back; removes the sleepers that are due, and returns their wake-up calls.
        mutating func advance(to instant: Instant) -> [@Sendable () -> Void] {
            now = max(now, instant)
            let due = sleepers.prefix { $0.deadline <= now }
            sleepers.removeFirst(due.count)
            return due.map(\.wake)
        }
    }

    private let state: AwaitableState<State>

    /// Makes a clock that shows a time, by default zero.
    public init(now: Instant = Instant()) {
        state = AwaitableState(State(now: now))
    }

    /// The time that the clock shows.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest difference that the clock measures: zero, since it has no limit.
    public var minimumResolution: Swift.Duration { .zero }

    /// The number of tasks that are asleep.
    public var sleeperCount: Int { state.withLock { $0.sleeperCount } }

    /// Sleeps until the clock has been advanced to the deadline; returns at once if it already has.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        try await sleep(until: deadline, isCounted: true)
    }

    /// Sleeps as the other form does; a sleep that isn't counted doesn't end ``waitForSleepers(_:timeout:file:line:)``.
    ///
    /// For timeouts: a test that waits for sleepers doesn't mean these.
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

    /// Waits until at least `count` tasks are asleep; returns at once if they already are.
    ///
    /// - Parameters:
    ///   - count: The number of tasks; 1 by default.
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Throws: ``WaitTimeoutError`` at the limit, with the sleepers there are, or `CancellationError` as soon as the
    ///   task is cancelled.
    public func waitForSleepers(
        _ count: Int = 1,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try Task.checkCancellation()
        try await state.wait(for: "\(count) sleepers", timeout: limit, at: CallSite(file, line)) { state in
            let deadlines = state.sleepers.filter(\.isCounted).map { "until \($0.deadline)" }
            let list = deadlines.isEmpty ? "" : " (\(deadlines.joined(separator: ", ")))"
            return "\(deadlines.count) sleep\(list), and the clock shows \(state.now)"
        } until: {
            $0.sleeperCount >= count
        }
    }

    /// Advances the time by a duration, and wakes the tasks whose deadline is reached.
    public func advance(by duration: Swift.Duration) {
        for wake in state.withLock({ $0.advance(to: $0.now.advanced(by: duration)) }) { wake() }
    }

    /// Advances the time to a point, and wakes the tasks whose deadline is reached; an earlier point changes nothing.
    public func advance(to instant: Instant) {
        for wake in state.withLock({ $0.advance(to: instant) }) { wake() }
    }
}

// MARK: - After

extension Clock where Duration == Swift.Duration {
    /// Runs an action after a time, counted from this call, unless the task is cancelled before.
    ///
    /// On a ``ManualClock``, the sleep isn't counted by
    /// ``ManualClock/waitForSleepers(_:timeout:file:line:)``.
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

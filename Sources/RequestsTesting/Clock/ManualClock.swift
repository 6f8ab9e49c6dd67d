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

    private typealias Sleep = CheckedContinuation<Void, any Error>

    private let timeline: Watched<Timeline<Sleep>>

    /// Makes a clock that shows a time, by default zero.
    public init(now: Instant = Instant()) {
        timeline = Watched(Timeline(now: now))
    }

    /// The time that the clock shows.
    public var now: Instant { timeline.withLock { $0.now } }

    /// The smallest difference that the clock measures: zero, since it has no limit.
    public var minimumResolution: Swift.Duration { .zero }

    /// The number of tasks that are asleep.
    public var sleeperCount: Int { timeline.withLock { $0.sleeperCount } }

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
        let id = timeline.withLock { $0.makeIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Sleep) in
                let outcome = timeline.withLock { timeline -> Result<Void, any Error>? in
                    // A cancellation before this point found no continuation to end, but it has set the task's flag.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    let isAsleep = timeline.sleep(id, until: deadline, continuation, isCounted: isCounted)
                    return isAsleep ? nil : .success(())
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            timeline.withLock { $0.remove(id) }?.resume(throwing: CancellationError())
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
        try await timeline.wait(for: "\(count) sleepers", timeout: limit, at: SourcePlace(file, line)) {
            $0.summary
        } until: {
            $0.sleeperCount >= count
        }
    }

    /// Advances the time by a duration, and wakes the tasks whose deadline is reached.
    public func advance(by duration: Swift.Duration) {
        let due = timeline.withLock { $0.advance(to: $0.now.advanced(by: duration)) }
        for sleep in due { sleep.resume() }
    }

    /// Advances the time to a point, and wakes the tasks whose deadline is reached; an earlier point changes nothing.
    public func advance(to instant: Instant) {
        let due = timeline.withLock { $0.advance(to: instant) }
        for sleep in due { sleep.resume() }
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

/// The time and the sleepers of a ``ManualClock``, as logic without tasks.
///
/// Each transition returns the sleepers that it wakes, in their order; the caller resumes them. They are removed, so
/// none is woken twice.
struct Timeline<Waiter: Sendable>: Sendable {
    struct Sleeper: Sendable {
        var id: Int
        var deadline: ManualClock.Instant
        var waiter: Waiter
        /// Whether a wait for sleepers counts this one.
        var isCounted = true
    }

    private(set) var now: ManualClock.Instant
    /// The sleepers in the order of their deadlines; with the same deadline, in the order of arrival.
    private(set) var sleepers: [Sleeper] = []
    private var lastIdentifier = 0

    init(now: ManualClock.Instant) {
        self.now = now
    }

    /// Returns an identifier by which ``remove(_:)`` finds a sleeper.
    mutating func makeIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// Adds a sleeper; returns `false` if its deadline is reached already.
    mutating func sleep(
        _ id: Int,
        until deadline: ManualClock.Instant,
        _ waiter: Waiter,
        isCounted: Bool = true
    ) -> Bool {
        guard deadline > now else { return false }
        let position = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
        let sleeper = Sleeper(id: id, deadline: deadline, waiter: waiter, isCounted: isCounted)
        sleepers.insert(sleeper, at: position)
        return true
    }

    /// The number of sleepers that are counted.
    var sleeperCount: Int { sleepers.count { $0.isCounted } }

    /// The counted sleepers, and the time, for an error.
    var summary: String {
        let deadlines = sleepers.filter(\.isCounted).map { "until \($0.deadline)" }.joined(separator: ", ")
        return "\(sleeperCount) sleep\(deadlines.isEmpty ? "" : " (\(deadlines))"), and the clock shows \(now)"
    }

    /// Sets the time, which never goes back; returns the sleepers whose deadline is reached.
    mutating func advance(to instant: ManualClock.Instant) -> [Waiter] {
        now = max(now, instant)
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        return due.map(\.waiter)
    }

    /// Removes a sleeper and returns it; `nil` if it was woken already or never added.
    mutating func remove(_ id: Int) -> Waiter? {
        sleepers.firstIndex { $0.id == id }.map { sleepers.remove(at: $0).waiter }
    }
}

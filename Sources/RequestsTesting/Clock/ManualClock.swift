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

    private let timeline: Locked<Timeline<Sleep>>

    /// Makes a clock that shows a time, by default zero.
    public init(now: Instant = Instant()) {
        timeline = Locked(Timeline(now: now))
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
        try Task.checkCancellation()
        try await suspend { $0.sleep($1, until: deadline, $2) }
    }

    /// Sleeps as the other form does, but isn't counted by ``waitForSleepers(_:within:)``.
    ///
    /// For timeouts: a test that waits for sleepers doesn't mean these.
    func sleepUncounted(until deadline: Instant) async throws {
        try Task.checkCancellation()
        try await suspend { $0.sleep($1, until: deadline, $2, isCounted: false) }
    }

    /// Waits until at least `count` tasks are asleep; returns at once if they already are.
    ///
    /// - Parameters:
    ///   - count: The number of tasks; 1 by default.
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    /// - Throws: ``WaitTimeoutError`` at the limit, with the sleepers there are, or `CancellationError` as soon as the
    ///   task is cancelled.
    public func waitForSleepers(_ count: Int = 1, within limit: Duration = .seconds(30)) async throws {
        guard sleeperCount < count else { return try Task.checkCancellation() }
        try await waiting(within: limit) { [self] in
            WaitTimeoutError(limit: limit, awaited: "\(count) sleepers", state: timeline.withLock { $0.summary })
        } body: { [self] in
            try await suspend { $0.watch($1, for: count, $2) }
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

    private func suspend(
        _ register: @Sendable (inout Timeline<Sleep>, Int, Sleep) -> [Sleep]
    ) async throws {
        let id = timeline.withLock { $0.makeIdentifier() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Sleep) in
                let awake = timeline.withLock { timeline -> [Sleep]? in
                    // A cancellation before this point found no continuation to end, but it has set the task's flag.
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

// MARK: - After

extension Clock where Duration == Swift.Duration {
    /// Runs an action after a time, counted from this call, unless the task is cancelled before.
    ///
    /// On a ``ManualClock``, the sleep isn't counted by ``ManualClock/waitForSleepers(_:within:)``.
    func after(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let deadline = now.advanced(by: time.clamped)
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

/// The sleepers of a ``ManualClock`` and the watchers that wait for a number of sleepers, as logic without tasks.
///
/// Each transition returns the waiters that it releases, in their order; the caller resumes them. A returned waiter is
/// removed, so none is woken twice.
struct Timeline<Waiter: Sendable>: Sendable {
    struct Sleeper: Sendable {
        var id: Int
        var deadline: ManualClock.Instant
        var waiter: Waiter
        /// Whether a watcher counts this sleeper.
        var isCounted = true
    }

    struct Watcher: Sendable {
        var id: Int
        var count: Int
        var waiter: Waiter
    }

    private(set) var now: ManualClock.Instant
    /// The sleepers in the order of their deadlines; with the same deadline, in the order of arrival.
    private(set) var sleepers: [Sleeper] = []
    private(set) var watchers: [Watcher] = []
    private var lastIdentifier = 0

    init(now: ManualClock.Instant) {
        self.now = now
    }

    /// Returns an identifier by which ``remove(_:)`` finds a sleeper or a watcher.
    mutating func makeIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// Adds a sleeper.
    ///
    /// Returns just its waiter if the deadline is reached, else the watchers whose count is now reached.
    mutating func sleep(
        _ id: Int,
        until deadline: ManualClock.Instant,
        _ waiter: Waiter,
        isCounted: Bool = true
    ) -> [Waiter] {
        guard deadline > now else { return [waiter] }
        let position = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
        let sleeper = Sleeper(id: id, deadline: deadline, waiter: waiter, isCounted: isCounted)
        sleepers.insert(sleeper, at: position)
        let count = sleeperCount
        let satisfied = watchers.filter { $0.count <= count }
        watchers.removeAll { $0.count <= count }
        return satisfied.map(\.waiter)
    }

    /// The number of sleepers that are counted.
    var sleeperCount: Int { sleepers.count { $0.isCounted } }

    /// The counted sleepers, and the time, for an error.
    var summary: String {
        let deadlines = sleepers.filter(\.isCounted).map { "until \($0.deadline)" }.joined(separator: ", ")
        return "\(sleeperCount) sleep\(deadlines.isEmpty ? "" : " (\(deadlines))"), and the clock shows \(now)"
    }

    /// Adds a watcher for a number of sleepers; returns its waiter if the number is reached already.
    mutating func watch(_ id: Int, for count: Int, _ waiter: Waiter) -> [Waiter] {
        guard sleeperCount < count else { return [waiter] }
        watchers.append(Watcher(id: id, count: count, waiter: waiter))
        return []
    }

    /// Sets the time, which never goes back; returns the sleepers whose deadline is reached.
    mutating func advance(to instant: ManualClock.Instant) -> [Waiter] {
        now = max(now, instant)
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        return due.map(\.waiter)
    }

    /// Removes a sleeper or a watcher and returns it; `nil` if it was woken already or never added.
    mutating func remove(_ id: Int) -> Waiter? {
        if let index = sleepers.firstIndex(where: { $0.id == id }) { return sleepers.remove(at: index).waiter }
        if let index = watchers.firstIndex(where: { $0.id == id }) { return watchers.remove(at: index).waiter }
        return nil
    }
}

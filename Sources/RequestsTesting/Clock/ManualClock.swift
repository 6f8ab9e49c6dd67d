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

// MARK: - After

extension Clock where Duration == Swift.Duration {
    /// Runs an action when a time has passed, counted from this call, unless the task is cancelled before.
    ///
    /// On a ``ManualClock`` nobody waits for this to sleep.
    func after(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let deadline = now.advanced(by: time.sleepable)
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

/// Who sleeps until when, and who waits for how many sleepers: the logic of ``ManualClock``, without tasks.
///
/// Each transition returns those that go on because of it, in their order; waking them is the caller's work. Whoever is
/// returned is no longer known here, so nobody is woken twice.
struct Timeline<Waiter: Sendable>: Sendable {
    struct Sleeper: Sendable {
        var id: Int
        var deadline: ManualClock.Instant
        var waiter: Waiter
        /// Whether somebody may wait for this one to fall asleep.
        var isCounted = true
    }

    struct Watcher: Sendable {
        var id: Int
        var count: Int
        var waiter: Waiter
    }

    private(set) var now: ManualClock.Instant
    /// In the order of their deadlines; with the same one, in that of their coming.
    private(set) var sleepers: [Sleeper] = []
    private(set) var watchers: [Watcher] = []
    private var lastIdentifier = 0

    init(now: ManualClock.Instant) {
        self.now = now
    }

    /// A number by which ``remove(_:)`` knows a sleeper or a watcher.
    mutating func makeIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// Puts someone to sleep.
    ///
    /// Returns just that one where the deadline is reached, else the watchers that waited for it.
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

    /// How many are asleep of those who are counted.
    var sleeperCount: Int { sleepers.count { $0.isCounted } }

    /// Lets someone wait for a number of sleepers; returns that one where there are so many.
    mutating func watch(_ id: Int, for count: Int, _ waiter: Waiter) -> [Waiter] {
        guard sleeperCount < count else { return [waiter] }
        watchers.append(Watcher(id: id, count: count, waiter: waiter))
        return []
    }

    /// Sets the time, unless that would turn it back; returns the sleepers whose deadline is reached.
    mutating func advance(to instant: ManualClock.Instant) -> [Waiter] {
        now = max(now, instant)
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        return due.map(\.waiter)
    }

    /// Forgets a sleeper or a watcher; returns it, or nil where it was woken already or never came.
    mutating func remove(_ id: Int) -> Waiter? {
        if let index = sleepers.firstIndex(where: { $0.id == id }) { return sleepers.remove(at: index).waiter }
        if let index = watchers.firstIndex(where: { $0.id == id }) { return watchers.remove(at: index).waiter }
        return nil
    }
}

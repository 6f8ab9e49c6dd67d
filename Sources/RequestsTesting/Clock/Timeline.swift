// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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

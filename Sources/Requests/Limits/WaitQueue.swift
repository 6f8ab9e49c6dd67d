// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A priority queue of waiters; among waiters of equal priority, the one that has waited longest goes first.
///
/// The priority of a waiter may change without notice, so the owner of the queue must refresh the priorities.
/// Refreshing all of them before every grant would take quadratic time in a long queue. ``needsRefresh`` therefore
/// requires a refresh before every grant only while the queue is short. In a long queue, the number of grants between
/// two refreshes is proportional to the length. The average cost of a grant is thus bounded, whatever the length.
///
/// The queue never reads a priority itself, because that would run the caller's code under the owner's lock. The owner
/// reads the priorities after it has released its lock.
struct WaitQueue: Sendable {
    /// An entry of the heap; IDs increase in order of arrival.
    private struct Entry: Sendable, Comparable {
        let id: Int
        let priority: Int

        static func < (one: Entry, other: Entry) -> Bool {
            one.priority == other.priority ? one.id < other.id : one.priority > other.priority
        }
    }

    /// The divisor of the refresh interval: in a queue of n waiters, priorities are refreshed every n / 64 grants.
    private static let waitersPerSkippedRefresh = 64

    /// The last known priority of each waiter.
    private var priorities: [Int: Int] = [:]
    /// The entries of the waiters, and stale entries of removed waiters, which are skipped.
    private var heap = Heap<Entry>()
    private var grantsUntilRefresh = 0

    var isEmpty: Bool { priorities.isEmpty }
    var count: Int { priorities.count }
    /// All waiters, in no particular order.
    var ids: some Collection<Int> { priorities.keys }

    /// Whether the priorities must be refreshed before the next grant; never needed for a single waiter.
    var needsRefresh: Bool { count > 1 && grantsUntilRefresh <= 0 }

    /// Adds a waiter.
    ///
    /// - Complexity: O(log n)
    mutating func add(_ id: Int, priority: Int) {
        priorities[id] = priority
        heap.insert(Entry(id: id, priority: priority))
    }

    /// Removes a waiter without admitting it; returns `false` if it isn't in the queue.
    ///
    /// - Complexity: O(1), amortized.
    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        guard priorities.removeValue(forKey: id) != nil else { return false }
        if heap.count > 2 * count + Self.waitersPerSkippedRefresh { rebuild() }
        return true
    }

    /// Records refreshed priorities, except those of waiters that were removed in the meantime.
    ///
    /// - Complexity: O(n log n)
    mutating func update(_ newPriorities: [Int: Int]) {
        for (id, priority) in newPriorities where priorities[id] != nil { priorities[id] = priority }
        grantsUntilRefresh = max(1, count / Self.waitersPerSkippedRefresh)
        rebuild()
    }

    /// Requires a refresh before the next grant, whatever the length of the queue.
    mutating func requireRefresh() {
        grantsUntilRefresh = 0
    }

    /// Removes and returns the next waiter; returns `nil` if the queue is empty.
    ///
    /// - Complexity: O(log n)
    mutating func popFirst() -> Int? {
        while let first = heap.popFirst() {
            guard priorities.removeValue(forKey: first.id) != nil else { continue }
            grantsUntilRefresh = isEmpty ? 0 : grantsUntilRefresh - 1
            return first.id
        }
        return nil
    }

    /// The next waiter; `nil` if the queue is empty.
    ///
    /// - Complexity: O(log n), amortized.
    var first: Int? {
        mutating get {
            while let first = heap.first {
                if priorities[first.id] != nil { return first.id }
                heap.popFirst()
            }
            return nil
        }
    }

    private mutating func rebuild() {
        heap = Heap(priorities.map { Entry(id: $0.key, priority: $0.value) })
    }
}

/// A request that waits for a limiter.
struct Waiter: Sendable {
    /// Returns the current priority.
    ///
    /// The closure is the caller's code, and may be slow, so it is never called under a lock.
    let priority: @Sendable () -> Int
    /// Resumes the request.
    let onGrant: @Sendable () -> Void
}

/// The waiters of a limiter, and the logic that decides which of them to admit next.
struct Waiters: Sendable {
    /// The next step of the limiter, to perform outside of its lock.
    enum Step: Sendable {
        /// Do nothing for now.
        case none
        /// Read the current priorities of all waiters, and pass them to ``update(_:)``.
        case refresh([Int: Waiter])
        /// Resume these requests; they were removed from the queue.
        case grant([Waiter])
    }

    private var queue = WaitQueue()
    private var waiters: [Int: Waiter] = [:]
    /// Whether the priorities are being refreshed; no waiter is admitted until that is done.
    private(set) var isRefreshing = false

    var isEmpty: Bool { waiters.isEmpty }
    var count: Int { waiters.count }

    /// Adds a waiter; IDs increase in order of arrival.
    mutating func add(_ waiter: Waiter, as id: Int, priority: Int) {
        waiters[id] = waiter
        queue.add(id, priority: priority)
    }

    /// Removes a waiter whose request was cancelled; returns `nil` if it was already admitted or removed.
    mutating func remove(_ id: Int) -> Waiter? {
        queue.remove(id)
        return waiters.removeValue(forKey: id)
    }

    /// Records the current priorities, which completes a refresh.
    mutating func update(_ priorities: [Int: Int]) {
        isRefreshing = false
        queue.update(priorities)
    }

    /// Requires a refresh of the priorities before the next grant.
    mutating func requireRefresh() {
        queue.requireRefresh()
    }

    /// Admits at most `room` waiters, unless the priorities must be refreshed first to choose among them.
    mutating func next(_ room: Int) -> Step {
        guard !isRefreshing, room > 0 else { return .none }
        if queue.needsRefresh, queue.count > room {
            isRefreshing = true
            return .refresh(waiters)
        }
        var granted: [Waiter] = []
        while granted.count < room, let id = queue.popFirst() {
            if let waiter = waiters.removeValue(forKey: id) { granted.append(waiter) }
        }
        return .grant(granted)
    }
}

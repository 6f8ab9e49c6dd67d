// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A line of waiters: the highest priority first, and among equals the longest wait.
///
/// A priority may change while its owner waits, and the line isn't notified: it has to ask. Asking all waiters before
/// every turn would make a long line quadratic. ``needsRefresh`` therefore requests it before every turn while the line
/// is short, and once in a number of turns that is a small part of a long line. That bounds the questions per turn,
/// whatever the length.
///
/// The line itself doesn't ask, since a priority comes from a caller's code: the owner of the line asks, outside the
/// lock.
struct WaitQueue: Sendable {
    /// A place in the heap; `id` numbers the waiters in the order of their arrival.
    private struct Place: Sendable, Comparable {
        let id: Int
        let priority: Int

        static func < (one: Place, other: Place) -> Bool {
            one.priority == other.priority ? one.id < other.id : one.priority > other.priority
        }
    }

    /// The length of the line for each turn without a question.
    private static let patience = 64

    /// The waiters, with their last known priorities.
    private var priorities: [Int: Int] = [:]
    /// Their places; waiters that have left stay in it, and are skipped when their turn comes.
    private var heap = Heap<Place>()
    private var unaskedTurns = 0

    var isEmpty: Bool { priorities.isEmpty }
    var count: Int { priorities.count }
    /// All waiters, in no order.
    var ids: some Collection<Int> { priorities.keys }

    /// Whether all waiters are to be asked before the next turn; with a single one there is nothing to decide.
    var needsRefresh: Bool { count > 1 && unaskedTurns <= 0 }

    /// Adds a waiter.
    ///
    /// - Complexity: O(log n)
    mutating func add(_ id: Int, priority: Int) {
        priorities[id] = priority
        heap.insert(Place(id: id, priority: priority))
    }

    /// Removes a waiter without a turn; returns `false` if it isn't in the line.
    ///
    /// - Complexity: O(1), spread over many.
    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        guard priorities.removeValue(forKey: id) != nil else { return false }
        if heap.count > 2 * count + Self.patience { rebuild() }
        return true
    }

    /// Records the answers of the waiters; some may have left since, and others arrived.
    ///
    /// - Complexity: O(n log n)
    mutating func update(_ answers: [Int: Int]) {
        for (id, priority) in answers where priorities[id] != nil { priorities[id] = priority }
        unaskedTurns = max(1, count / Self.patience)
        rebuild()
    }

    /// Requests that all waiters are asked before the next turn, however long the line is.
    mutating func requireRefresh() {
        unaskedTurns = 0
    }

    /// Removes the waiter whose turn is next, and returns it.
    ///
    /// - Complexity: O(log n)
    mutating func popFirst() -> Int? {
        while let first = heap.popFirst() {
            guard priorities.removeValue(forKey: first.id) != nil else { continue }
            unaskedTurns = isEmpty ? 0 : unaskedTurns - 1
            return first.id
        }
        return nil
    }

    /// The waiter whose turn is next; `nil` if the line is empty.
    ///
    /// - Complexity: O(log n), spread over many.
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
        heap = Heap(priorities.map { Place(id: $0.key, priority: $0.value) })
    }
}

/// A request that waits at a limit.
struct Waiter: Sendable {
    /// Returns the present priority.
    ///
    /// It is a caller's code, and may be slow: it is never called under a lock.
    let priority: @Sendable () -> Int
    /// Resumes the request.
    let granted: @Sendable () -> Void
}

/// The waiters of a limiter, which admits them in the order of the priorities that they have when there is room.
struct Waiters: Sendable {
    /// The next step of the limiter, to be performed outside its lock.
    enum Step: Sendable {
        /// Nothing can be done now.
        case none
        /// Asks all waiters for their priorities; ``update(_:)`` takes the answers.
        case refresh([Int: Waiter])
        /// Resumes these requests, which have left the line.
        case grant([Waiter])
    }

    private var line = WaitQueue()
    private var waiters: [Int: Waiter] = [:]
    /// Whether the priorities are being asked for; until they are known, no waiter is admitted.
    private(set) var isRefreshing = false

    var isEmpty: Bool { waiters.isEmpty }
    var count: Int { waiters.count }

    /// Adds a waiter; `id` numbers them in the order of their arrival.
    mutating func add(_ waiter: Waiter, as id: Int, priority: Int) {
        waiters[id] = waiter
        line.add(id, priority: priority)
    }

    /// Removes a waiter that has given up.
    mutating func remove(_ id: Int) -> Waiter? {
        line.remove(id)
        return waiters.removeValue(forKey: id)
    }

    /// Records the answers of the waiters.
    mutating func update(_ answers: [Int: Int]) {
        isRefreshing = false
        line.update(answers)
    }

    /// Requests that all waiters are asked before the next turn.
    mutating func requireRefresh() {
        line.requireRefresh()
    }

    /// Admits as many waiters as there is room for; asks them first if there is something to decide.
    mutating func next(_ room: Int) -> Step {
        guard !isRefreshing, room > 0 else { return .none }
        if line.needsRefresh, line.count > room {
            isRefreshing = true
            return .refresh(waiters)
        }
        var granted: [Waiter] = []
        while granted.count < room, let id = line.popFirst() {
            if let waiter = waiters.removeValue(forKey: id) { granted.append(waiter) }
        }
        return .grant(granted)
    }
}

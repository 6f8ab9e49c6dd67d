// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Those who wait for their turn: the highest priority first, and among equals whoever came first.
///
/// A priority may change while its owner waits, and nobody tells of it: the line has to ask. To ask everybody before
/// every turn would make a long line quadratic, so it asks when ``isCurious`` says so: before every turn as long as the
/// line is short, and once in as many turns as are a small part of it when it is long. That is a bounded number of
/// questions a turn, whatever the length.
///
/// The line itself asks nobody, since the answer is somebody else's code: who holds it does, outside the lock.
struct WaitingLine: Sendable {
    /// A place in the heap; `id` numbers the waiters in the order of their coming.
    private struct Place: Sendable {
        let id: Int
        let priority: Int

        func comes(before other: Place) -> Bool {
            priority == other.priority ? id < other.id : priority > other.priority
        }
    }

    /// How many turns a line has to have for each that goes by unasked.
    private static let patience = 64

    /// Who waits, with the priority that was last heard of.
    private var priorities: [Int: Int] = [:]
    /// A binary heap, in which who has left still is, and is passed over when its turn comes.
    private var heap: [Place] = []
    private var unaskedTurns = 0

    var isEmpty: Bool { priorities.isEmpty }
    var count: Int { priorities.count }
    /// Everybody in the line, in no order.
    var ids: some Collection<Int> { priorities.keys }

    /// Whether everybody is to be asked before the next turn; with one alone there is nothing to decide.
    var isCurious: Bool { count > 1 && unaskedTurns <= 0 }

    /// Takes someone in.
    ///
    /// - Complexity: O(log n)
    mutating func add(_ id: Int, priority: Int) {
        priorities[id] = priority
        heap.append(Place(id: id, priority: priority))
        rise(heap.count - 1)
    }

    /// Lets someone go without a turn; false for one who isn't there.
    ///
    /// - Complexity: O(1), spread over many.
    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        guard priorities.removeValue(forKey: id) != nil else { return false }
        if heap.count > 2 * count + Self.patience { rebuild() }
        return true
    }

    /// Takes the answers of those who were asked; some may have gone since, and others come.
    ///
    /// - Complexity: O(n log n)
    mutating func update(_ answers: [Int: Int]) {
        for (id, priority) in answers where priorities[id] != nil { priorities[id] = priority }
        unaskedTurns = count / Self.patience
        rebuild()
    }

    /// Has everybody asked before the next turn, however long the line.
    mutating func doubt() {
        unaskedTurns = 0
    }

    /// Gives the next turn.
    ///
    /// - Complexity: O(log n)
    mutating func takeFirst() -> Int? {
        while let first = popHeap() {
            guard priorities.removeValue(forKey: first.id) != nil else { continue }
            unaskedTurns = isEmpty ? 0 : unaskedTurns - 1
            return first.id
        }
        return nil
    }

    /// Whose turn is next; nil if the line is empty.
    ///
    /// - Complexity: O(log n), spread over many.
    var first: Int? {
        mutating get {
            while let first = heap.first {
                if priorities[first.id] != nil { return first.id }
                _ = popHeap()
            }
            return nil
        }
    }

    /// Those whose turns come before that of one, in no order.
    ///
    /// - Complexity: O(n)
    func ids(before id: Int) -> [Int] { others(than: id) { $0.comes(before: $1) } }

    /// Those whose turns come behind that of one, in no order.
    ///
    /// - Complexity: O(n)
    func ids(behind id: Int) -> [Int] { others(than: id) { $1.comes(before: $0) } }

    private func others(than id: Int, _ isMeant: (Place, Place) -> Bool) -> [Int] {
        guard let priority = priorities[id] else { return [] }
        let place = Place(id: id, priority: priority)
        return priorities.filter { isMeant(Place(id: $0.key, priority: $0.value), place) }.map(\.key)
    }

    // A sorted array is a heap.
    private mutating func rebuild() {
        heap = priorities.map { Place(id: $0.key, priority: $0.value) }
        heap.sort { $0.comes(before: $1) }
    }

    private mutating func popHeap() -> Place? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(0)
        return first
    }

    private mutating func rise(_ start: Int) {
        var child = start
        while child > 0, heap[child].comes(before: heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].comes(before: heap[best]) {
                best = child
            }
            guard best != parent else { return }
            heap.swapAt(parent, best)
            parent = best
        }
    }
}

/// Someone who waits at a limit.
struct Waiter: Sendable {
    /// Tells how urgent it is just now.
    ///
    /// It is somebody else's code, and may be slow: it is never called under a lock.
    let priority: @Sendable () -> Int
    /// Called when the turn has come.
    let granted: @Sendable () -> Void
}

/// Those who wait at a limit, by the number that its logic knows them by.
struct Waiters: Sendable {
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0

    /// Takes someone in, and gives the number.
    mutating func add(_ waiter: Waiter) -> Int {
        lastID += 1
        waiters[lastID] = waiter
        return lastID
    }

    /// Lets someone go.
    ///
    /// Whoever calls keeps what is returned until the lock is free: with it go objects of others.
    mutating func remove(_ id: Int) -> Waiter? {
        waiters.removeValue(forKey: id)
    }

    /// Those of some numbers, who are there as long as the logic has them in its line.
    func find(_ ids: [Int]) -> [Int: Waiter] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in waiters[id].map { (id, $0) } })
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Finds operations that wait for each other, no matter which of them has closed the cycle.
///
/// The check of a new dependency misses three things: dependencies that a plain operation gets later, the queues of
/// exclusive categories, and what another thread does at the same moment. So the detector keeps weak references to
/// waiting operations, and searches all of them together. The first search is after a quarter of a second, and the
/// interval then doubles. Most operations have ended by then. All operations share one timer, and there is none if
/// nothing waits.
final class DeadlockDetector: Sendable {
    static let shared = DeadlockDetector()

    private struct State: Sendable {
        var watched: [Weak<Operation>] = []
        var timer: DelayedAction?
        /// The delay of the scheduled search; `nil` during a search, and without a timer.
        var delay: Duration?
        var isSearching = false
        /// The minimum time between two searches; longer if a large graph makes them expensive.
        var minimumInterval = Duration.milliseconds(250)
    }

    private let state = Locked(State())

    /// Adds an operation that waits for something.
    func watch(_ operation: Operation) {
        state.withLock { state in
            state.watched.append(Weak(operation))
            guard !state.isSearching, state.delay.map({ $0 > state.minimumInterval }) ?? true else { return }
            schedule(&state, after: state.minimumInterval)
        }
    }

    private func schedule(_ state: inout State, after delay: Duration) {
        state.timer?.cancel()
        state.delay = delay
        state.timer = DelayedAction(after: delay, on: ContinuousClock()) { self.search(after: delay) }
    }

    private func search(after delay: Duration) {
        let watched = state.withLock { state -> [Weak<Operation>]? in
            // A timer that was replaced may still fire.
            guard !state.isSearching, state.delay == delay else { return nil }
            (state.isSearching, state.delay, state.timer) = (true, nil, nil)
            defer { state.watched = [] }
            return state.watched
        }
        guard let watched else { return }
        let start = ContinuousClock.now
        CycleSearch.refuseCycles(of: watched.compactMap(\.object))
        let waiting = watched.filter { $0.object.map { !$0.isFinished && !$0.isExecuting } ?? false }
        let minimumInterval = min(max(.milliseconds(250), (ContinuousClock.now - start) * 10), .seconds(2))
        state.withLock { state in
            (state.isSearching, state.minimumInterval) = (false, minimumInterval)
            let hasNew = !state.watched.isEmpty
            state.watched = waiting + state.watched
            guard !state.watched.isEmpty else { return }
            schedule(&state, after: hasNew ? minimumInterval : max(minimumInterval, delay * 2))
        }
    }
}

/// Searches for cycles, and refuses one operation of each cycle.
struct CycleSearch {
    private enum Mark {
        /// On the path, at an index.
        case open(Int)
        /// Known not to be in a cycle.
        case done
    }

    /// The positions of the operations that may be refused, in the order in which they began to wait.
    private let ranks: [ObjectIdentifier: Int]
    private var marks: [ObjectIdentifier: Mark] = [:]
    /// The current path, with the unvisited prerequisites of each of its operations.
    private var path: [(operation: Operation, prerequisites: [Operation])] = []
    private let exclusivity = ExclusivitySnapshot()

    /// Refuses operations until the others form no cycle.
    ///
    /// - Complexity: O(n) in the number of reachable operations and dependencies, for each time that a refused
    ///   operation changes the queues of exclusive categories.
    static func refuseCycles(of operations: [Operation]) {
        let ranks = Dictionary(operations.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: min)
        var isComplete = false
        while !isComplete {
            var search = CycleSearch(ranks: ranks)
            isComplete = !search.refuse(from: operations)
        }
    }

    private init(ranks: [ObjectIdentifier: Int]) {
        self.ranks = ranks
    }

    /// Searches from each of the operations, and returns whether one was refused.
    private mutating func refuse(from operations: [Operation]) -> Bool {
        var hasRefused = false
        for operation in operations where marks[ObjectIdentifier(operation)] == nil {
            enter(operation)
            while let next = path.last?.operation {
                guard let prerequisite = path[path.count - 1].prerequisites.popLast() else {
                    marks[ObjectIdentifier(next)] = .done
                    path.removeLast()
                    continue
                }
                switch marks[ObjectIdentifier(prerequisite)] {
                case nil: enter(prerequisite)
                case .done: break
                case .open(let index): if refuse(from: index) { hasRefused = true }
                }
            }
        }
        return hasRefused
    }

    private mutating func enter(_ operation: Operation) {
        marks[ObjectIdentifier(operation)] = .open(path.count)
        path.append((operation, operation.prerequisites(in: exclusivity)))
    }

    /// Refuses one operation of the cycle that begins at an index of the path, and returns whether it did.
    ///
    /// The refused operation is the last one that began to wait; members are preferred to their group.
    private mutating func refuse(from start: Int) -> Bool {
        let cycle = path[start...].map(\.operation)
        guard stillExists(cycle) else { return false }
        let candidates = cycle.indices.filter { ranks[ObjectIdentifier(cycle[$0])] != nil }
        guard let index = candidates.max(by: { rank(cycle[$0]) < rank(cycle[$1]) }) else { return false }
        let route = cycle[(index + 1)...] + cycle[...index]
        cycle[index].failOrCancel(with: .dependencyCycle(of: cycle[index], through: Array(route)))
        // The operations after the refused one may be in other cycles.
        for (operation, _) in path[(start + index)...] { marks[ObjectIdentifier(operation)] = nil }
        marks[ObjectIdentifier(cycle[index])] = .done
        path.removeSubrange((start + index)...)
        return true
    }

    private func rank(_ operation: Operation) -> (Int, Int) {
        let asynchronous = operation as? AsynchronousOperation
        return (asynchronous?.hasMembers ?? true ? 0 : 1, ranks[ObjectIdentifier(operation)] ?? 0)
    }

    /// Returns whether all dependencies of a cycle still exist.
    ///
    /// They were read one after the other. A dependency seen in both passes also existed in between, so all of them
    /// existed at the same moment. From then on, only a cancellation can remove them.
    private func stillExists(_ cycle: [Operation]) -> Bool {
        cycle.indices.allSatisfy { index in
            let next = cycle[(index + 1) % cycle.count]
            return cycle[index].prerequisites(in: exclusivity).contains { $0 === next }
        }
    }
}

extension Operation {
    /// Returns the operations that this one currently waits for.
    fileprivate final func prerequisites(in exclusivity: ExclusivitySnapshot) -> [Operation] {
        guard !isFinished else { return [] }
        if let gate = self as? OperationGate { return gate.dependencies + exclusivity.operations(before: gate) }
        return isReady || isExecuting ? [] : dependencies
    }
}

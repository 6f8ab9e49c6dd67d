// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Finds operations that wait for each other, no matter how the cycle was closed.
///
/// The check of a new dependency misses three things: dependencies that a plain operation gets later, the queues of
/// exclusive categories, and changes that another thread makes at the same moment. So the detector keeps weak
/// references to waiting operations, and searches all of them together. The first search runs after a quarter of a
/// second, when most operations have already ended. The interval then doubles. All operations share one timer, which
/// runs only while operations wait.
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

    /// Starts watching a waiting operation.
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
        /// On the path, at the given index.
        case open(Int)
        /// Known not to be in a cycle.
        case done
    }

    /// The operations that may be refused, each with its position in the order in which they began to wait.
    private let waitPositions: [ObjectIdentifier: Int]
    private var marks: [ObjectIdentifier: Mark] = [:]
    /// The current path, with the unvisited prerequisites of each of its operations.
    private var path: [(operation: Operation, prerequisites: [Operation])] = []
    private let exclusivity = ExclusivitySnapshot()

    /// Refuses operations until the others form no cycle.
    ///
    /// - Complexity: O(n) in the number of reachable operations and dependencies, for each time that a refused
    ///   operation changes the queues of exclusive categories.
    static func refuseCycles(of operations: [Operation]) {
        let waitPositions = Dictionary(
            operations.enumerated().map { (ObjectIdentifier($1), $0) },
            uniquingKeysWith: min
        )
        var isComplete = false
        while !isComplete {
            var search = CycleSearch(waitPositions: waitPositions)
            isComplete = !search.refuse(from: operations)
        }
    }

    private init(waitPositions: [ObjectIdentifier: Int]) {
        self.waitPositions = waitPositions
    }

    /// Searches from each of the operations, and returns whether any operation was refused.
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

    /// Refuses one operation of the cycle that begins at an index of the path; returns whether an operation was
    /// refused.
    ///
    /// The method refuses the operation that began to wait last; it prefers members to their group.
    private mutating func refuse(from start: Int) -> Bool {
        let cycle = path[start...].map(\.operation)
        guard stillExists(cycle) else { return false }
        let candidates = cycle.indices.filter { waitPositions[ObjectIdentifier(cycle[$0])] != nil }
        guard let index = candidates.max(by: { refusalPriority(cycle[$0]) < refusalPriority(cycle[$1]) }) else {
            return false
        }
        let route = cycle[(index + 1)...] + cycle[...index]
        cycle[index].failOrCancel(with: .dependencyCycle(of: cycle[index], through: Array(route)))
        // The operations after the refused operation may be in other cycles.
        for (operation, _) in path[(start + index)...] { marks[ObjectIdentifier(operation)] = nil }
        marks[ObjectIdentifier(cycle[index])] = .done
        path.removeSubrange((start + index)...)
        return true
    }

    private func refusalPriority(_ operation: Operation) -> (Int, Int) {
        let asynchronous = operation as? AsynchronousOperation
        return (asynchronous?.hasMembers ?? true ? 0 : 1, waitPositions[ObjectIdentifier(operation)] ?? 0)
    }

    /// Returns whether all dependencies of a cycle still exist.
    ///
    /// The search read the dependencies one after the other, so this is a second pass. A dependency seen in both passes
    /// also existed in between, so all of them existed at the same moment. From then on, only a cancellation can remove
    /// them.
    private func stillExists(_ cycle: [Operation]) -> Bool {
        cycle.indices.allSatisfy { index in
            let next = cycle[(index + 1) % cycle.count]
            return cycle[index].prerequisites(in: exclusivity).contains { $0 === next }
        }
    }
}

extension Operation {
    /// Returns the operations that this operation currently waits for.
    fileprivate final func prerequisites(in exclusivity: ExclusivitySnapshot) -> [Operation] {
        guard !isFinished else { return [] }
        if let gate = self as? OperationGate { return gate.dependencies + exclusivity.operations(before: gate) }
        return isReady || isExecuting ? [] : dependencies
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Finds operations that wait for each other, whoever has closed the cycle.
///
/// The check of a new dependency sees neither a link that a plain operation gets later, nor the lines of categories,
/// nor what another thread does at the same moment. So the operations that wait for something are kept here, weakly,
/// and are searched together: first after a quarter of a second, then after twice that time, and so on. Most have ended
/// by then. There is one timer for all, and none if nothing waits.
final class DeadlockDetector: Sendable {
    static let shared = DeadlockDetector()

    private struct State: Sendable {
        var watched: [Weak<Operation>] = []
        var timer: DelayedAction?
        /// The time until the next search, as it was when it was scheduled; `nil` during a search, and without a timer.
        var delay: Duration?
        var isSearching = false
        /// The shortest time between two searches, which is longer if a large graph makes them expensive.
        var pause = Duration.milliseconds(250)
    }

    private let state = Locked(State())

    /// Adds an operation that waits for something.
    func watch(_ operation: Operation) {
        state.withLock { state in
            state.watched.append(Weak(operation))
            guard !state.isSearching, state.delay.map({ $0 > state.pause }) ?? true else { return }
            schedule(&state, after: state.pause)
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
        let pause = min(max(.milliseconds(250), (ContinuousClock.now - start) * 10), .seconds(2))
        state.withLock { state in
            (state.isSearching, state.pause) = (false, pause)
            let isNew = !state.watched.isEmpty
            state.watched = waiting + state.watched
            guard !state.watched.isEmpty else { return }
            schedule(&state, after: isNew ? pause : max(pause, delay * 2))
        }
    }
}

/// A search for cycles, which refuses one operation of each.
struct CycleSearch {
    private enum Mark {
        /// On the path, at an index.
        case open(Int)
        /// Known to be in no cycle.
        case done
    }

    /// The positions of the operations that may be refused, in the order in which they began to wait.
    private let ranks: [ObjectIdentifier: Int]
    private var marks: [ObjectIdentifier: Mark] = [:]
    /// The present path, with the rest of what each of its operations waits for.
    private var path: [(operation: Operation, prerequisites: [Operation])] = []
    private let lines = ExclusivitySnapshot()

    /// Refuses operations until the others are in no cycle.
    ///
    /// - Complexity: O(n) in the number of operations and links behind the given ones, for each time that the lines of
    ///   categories change because an operation is refused.
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

    /// Searches from each of the operations; returns whether one was refused.
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
        path.append((operation, operation.prerequisites(in: lines)))
    }

    /// Refuses an operation of the cycle that begins at an index of the path; returns whether there is one.
    ///
    /// It is the last that has begun to wait, and rather a member than its group.
    private mutating func refuse(from start: Int) -> Bool {
        let cycle = path[start...].map(\.operation)
        guard isPresent(cycle) else { return false }
        let candidates = cycle.indices.filter { ranks[ObjectIdentifier(cycle[$0])] != nil }
        guard let index = candidates.max(by: { order(cycle[$0]) < order(cycle[$1]) }) else { return false }
        let way = cycle[(index + 1)...] + cycle[...index]
        cycle[index].failOrCancel(with: .dependencyCycle(of: cycle[index], through: Array(way)))
        // Those behind it may be in other cycles.
        for (operation, _) in path[(start + index)...] { marks[ObjectIdentifier(operation)] = nil }
        marks[ObjectIdentifier(cycle[index])] = .done
        path.removeSubrange((start + index)...)
        return true
    }

    private func order(_ operation: Operation) -> (Int, Int) {
        let asynchronous = operation as? AsynchronousOperation
        return (asynchronous?.hasMembers ?? true ? 0 : 1, ranks[ObjectIdentifier(operation)] ?? 0)
    }

    /// Whether all links of a cycle are still there.
    ///
    /// They were read one after the other. A link that is there before and after a moment is there at that moment, and
    /// if all are there at one moment, nobody but a cancellation can remove them.
    private func isPresent(_ cycle: [Operation]) -> Bool {
        cycle.indices.allSatisfy { index in
            let next = cycle[(index + 1) % cycle.count]
            return cycle[index].prerequisites(in: lines).contains { $0 === next }
        }
    }
}

extension Operation {
    /// The operations that this one waits for, at this moment.
    fileprivate final func prerequisites(in lines: ExclusivitySnapshot) -> [Operation] {
        guard !isFinished else { return [] }
        if let gate = self as? OperationGate { return gate.dependencies + lines.operations(before: gate) }
        return isReady || isExecuting ? [] : dependencies
    }
}

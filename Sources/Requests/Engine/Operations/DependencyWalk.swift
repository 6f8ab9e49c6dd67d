// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A search along the dependencies of operations, with a list rather than recursion.
///
/// Every link between asynchronous operations was checked when it was made, so the graph behind one of them has no
/// cycle, and can't contain an operation without dependents. The search therefore stops at asynchronous operations,
/// unless its target has dependents. Plain operations are searched through: their links were never checked. Cycles that
/// this search can't see are left to ``DeadlockDetector``.
struct DependencyWalk {
    /// The asynchronous operations that were reached.
    private(set) var asynchronous: [AsynchronousOperation] = []
    /// The path of the search to its target; empty if it wasn't found.
    private(set) var path: [Operation] = []

    /// Searches until all reachable operations are done.
    ///
    /// - Parameters:
    ///   - first: The operations to begin with.
    ///   - throughAsynchronous: Whether the target has dependents.
    ///   - isVerified: Whether it is known that the target can't be reached through an operation.
    ///   - isTarget: Whether an operation is the target.
    init(
        from first: [Operation],
        throughAsynchronous: Bool,
        skipping isVerified: (Operation) -> Bool = { _ in false },
        to isTarget: (Operation) -> Bool
    ) {
        if !throughAsynchronous, first.count == 1, let first = first[0] as? AsynchronousOperation, !isTarget(first) {
            asynchronous = [first]
            return
        }
        var origins: [ObjectIdentifier: Operation?] = [:]
        var open: [(operation: Operation, origin: Operation?)] = first.map { ($0, nil) }
        while let (operation, origin) = open.popLast() {
            guard origins[ObjectIdentifier(operation)] == nil else { continue }
            origins[ObjectIdentifier(operation)] = .some(origin)
            guard !isTarget(operation) else {
                path = Self.path(to: operation, origins)
                return
            }
            guard !isVerified(operation) else { continue }
            if let operation = operation as? AsynchronousOperation {
                asynchronous.append(operation)
                guard throughAsynchronous else { continue }
            }
            // Links of finished operations delay nothing, and the library's own finished operations have none.
            guard !operation.isFinished else { continue }
            for next in operation.dependencies { open.append((next, operation)) }
        }
    }

    private static func path(to target: Operation, _ origins: [ObjectIdentifier: Operation?]) -> [Operation] {
        var path = [target]
        while let origin = origins[ObjectIdentifier(path[path.count - 1])] ?? nil { path.append(origin) }
        return path.reversed()
    }
}

extension RequestError {
    /// The failure of an operation that would wait for itself, with the path in words.
    static func dependencyCycle(of operation: Operation, through path: [Operation]) -> RequestError {
        var names = path.filter { !($0 is OperationGate) }.map(\.displayName)
        if names.last != operation.displayName { names.append(operation.displayName) }
        if names.count > 8 { names.replaceSubrange(4..<(names.count - 3), with: ["…"]) }
        let way = names.count > 1 ? ": " + ([operation.displayName] + names).joined(separator: " → ") : ""
        return RequestError(.dependencyCycle, phase: .waiting, reason: "the operation would wait for itself\(way)")
    }
}

extension Operation {
    /// The name of the operation for display.
    final var displayName: String {
        name ?? (self as? AsynchronousOperation)?.displayRequest ?? String(describing: type(of: self))
    }

    /// Fails an operation that can't be run, if its kind has failures, and cancels it otherwise.
    final func failOrCancel(with error: RequestError) {
        if let operation = self as? AsynchronousOperation { return operation.refuse(error) }
        cancel()
        let end = BlockOperation { [self] in removeDependencies() }
        end.addDependency(self)
        end.runOnSeparateQueue()
    }
}

/// An operation that others depend on until an event that isn't the end of another operation.
///
/// No queue runs it, so it takes no place in one.
// Sendable: Operation requires restating it; the only addition here is a constant.
final class OperationGate: AsynchronousOperation, @unchecked Sendable {
    /// The number of the exclusive operation that waits here; `nil` for other gates.
    let exclusivityNumber: @Sendable () -> Int?

    /// Makes a gate that is closed.
    ///
    /// - Parameters:
    ///   - prerequisites: The operations that must finish before it can open, for graphs and for the search for cycles.
    ///   - exclusivityNumber: The number in ``ExclusivitySnapshot``, if the operations in front must finish, too.
    init(after prerequisites: [Operation] = [], exclusivityNumber: @escaping @Sendable () -> Int? = { nil }) {
        self.exclusivityNumber = exclusivityNumber
        super.init()
        for prerequisite in prerequisites { addDependency(prerequisite) }
        start()
    }

    /// Does nothing: it is opened from outside.
    override func execute() {}

    /// Opens it; a second call has no effect.
    func open() { finish() }
}

extension OperationQueue {
    /// The queue for operations that take no place in a queue: it has no limit, and they are short.
    static let unlimited = OperationQueue()
}

extension Operation {
    /// Runs the operation outside of all limits, as soon as its dependencies are finished.
    ///
    /// It gets a queue of its own: on Linux, a queue looks at all operations that wait in it whenever one is added or
    /// has ended.
    final func runOnSeparateQueue() {
        let queue = OperationQueue()
        queue.underlyingQueue = .global()
        queue.addOperation(self)
        notifyQueueIfReady()
    }
}

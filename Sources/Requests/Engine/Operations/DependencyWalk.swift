// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An iterative search along the dependencies of operations.
///
/// Every dependency between asynchronous operations was checked when it was added, so these operations form no cycle.
/// If nothing depends on the target yet, no asynchronous operation can lead to it, so the search doesn't continue past
/// asynchronous operations. It always continues past plain operations, because their dependencies were never checked.
/// ``DeadlockDetector`` finds the cycles that this search can't see.
struct DependencyWalk {
    /// The asynchronous operations that were reached.
    private(set) var asynchronousOperations: [AsynchronousOperation] = []
    /// The path of the search to its target; empty if the target wasn't found.
    private(set) var path: [Operation] = []

    /// Searches all reachable operations, until the target is found.
    ///
    /// - Parameters:
    ///   - first: The operations to begin with.
    ///   - throughAsynchronous: Whether to continue past asynchronous operations, because the target has dependents.
    ///   - isVerified: Returns whether the target is known to be unreachable through an operation.
    ///   - isTarget: Returns whether an operation is the target.
    init(
        from first: [Operation],
        throughAsynchronous: Bool,
        skipping isVerified: (Operation) -> Bool = { _ in false },
        to isTarget: (Operation) -> Bool
    ) {
        if !throughAsynchronous, first.count == 1, let first = first[0] as? AsynchronousOperation, !isTarget(first) {
            asynchronousOperations = [first]
            return
        }
        var origins: [ObjectIdentifier: Operation?] = [:]
        var pending: [(operation: Operation, origin: Operation?)] = first.map { ($0, nil) }
        while let (operation, origin) = pending.popLast() {
            guard origins[ObjectIdentifier(operation)] == nil else { continue }
            origins[ObjectIdentifier(operation)] = .some(origin)
            guard !isTarget(operation) else {
                path = Self.path(to: operation, origins)
                return
            }
            guard !isVerified(operation) else { continue }
            if let operation = operation as? AsynchronousOperation {
                asynchronousOperations.append(operation)
                guard throughAsynchronous else { continue }
            }
            // Dependencies of a finished operation delay nothing, and the library's own finished operations have none.
            guard !operation.isFinished else { continue }
            for next in operation.dependencies { pending.append((next, operation)) }
        }
    }

    private static func path(to target: Operation, _ origins: [ObjectIdentifier: Operation?]) -> [Operation] {
        var path = [target]
        while let origin = origins[ObjectIdentifier(path[path.count - 1])] ?? nil { path.append(origin) }
        return path.reversed()
    }
}

extension RequestError {
    /// Creates the failure of an operation that would wait for itself; the message contains the path.
    static func dependencyCycle(of operation: Operation, through path: [Operation]) -> RequestError {
        var names = path.filter { !($0 is OperationGate) }.map(\.displayName)
        if names.last != operation.displayName { names.append(operation.displayName) }
        if names.count > 8 { names.replaceSubrange(4..<(names.count - 3), with: ["…"]) }
        let way = names.count > 1 ? ": " + ([operation.displayName] + names).joined(separator: " → ") : ""
        return RequestError(.dependencyCycle, phase: .waiting, reason: "the operation would wait for itself\(way)")
    }
}

extension Operation {
    /// The display name of the operation.
    final var displayName: String {
        name ?? (self as? AsynchronousOperation)?.displayRequest ?? String(describing: type(of: self))
    }

    /// Fails an operation that can't run, or cancels it if its kind has no failures.
    final func failOrCancel(with error: RequestError) {
        if let operation = self as? AsynchronousOperation { return operation.refuse(error) }
        cancel()
        let end = BlockOperation { [self] in removeDependencies() }
        end.addDependency(self)
        end.runOnSeparateQueue()
    }
}

/// An operation that others depend on until some event opens it.
///
/// No queue runs a gate, so it doesn't occupy a slot.
// Sendable: a subclass of `Operation` must restate the conformance; the only addition here is a constant.
final class OperationGate: AsynchronousOperation, @unchecked Sendable {
    /// Returns the ID of the exclusive operation that waits for this gate; `nil` for other gates.
    let exclusivityID: @Sendable () -> Int?

    /// Creates a closed gate.
    ///
    /// - Parameters:
    ///   - prerequisites: The operations that must finish before the gate can open; only graphs and cycle checks use
    ///     them.
    ///   - exclusivityID: Returns the ID of the gate's operation in ``ExclusivitySnapshot``, if the gate also waits for
    ///     the operations before it there.
    init(after prerequisites: [Operation] = [], exclusivityID: @escaping @Sendable () -> Int? = { nil }) {
        self.exclusivityID = exclusivityID
        super.init()
        for prerequisite in prerequisites { addDependency(prerequisite) }
        start()
    }

    /// Does nothing, because the gate is opened from outside.
    override func execute() {}

    /// Opens the gate; a second call has no effect.
    func open() { finish() }
}

extension OperationQueue {
    /// The queue for short operations that don't count toward any limit.
    static let unlimited = OperationQueue()
}

extension Operation {
    /// Runs the operation outside of all limits, as soon as its dependencies are finished.
    ///
    /// The operation gets a separate queue, because on Linux, a queue scans all its waiting operations whenever an
    /// operation is added or finishes.
    final func runOnSeparateQueue() {
        let queue = OperationQueue()
        queue.underlyingQueue = .global()
        queue.addOperation(self)
        notifyQueueIfReady()
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What an operation knows about its place in the graph.
struct DependencyLinks: Sendable {
    /// Whether anything may depend on the operation: only then can a new dependency close a cycle.
    var isDependedUpon = false
    /// Whether the operation depends on anything.
    var hasDependencies = false
}

/// A walk along dependencies, with a list rather than the stack to remember where to go on.
///
/// Every link between asynchronous operations was checked when it was made, so the part of the graph behind one of them
/// has no cycle of its own; and an operation that nothing depends on can't be in there. The walk therefore ends at
/// asynchronous operations, unless something depends on the one that it looks for. Plain operations are walked through:
/// nobody checked their links.
struct DependencyWalk {
    /// Whether the operation that was looked for is among the dependencies.
    private(set) var foundTarget = false
    /// The asynchronous operations that were reached.
    private(set) var asynchronous: [AsynchronousOperation] = []

    init(from first: Operation, lookingFor target: Operation, throughAsynchronous: Bool) {
        if !throughAsynchronous, first !== target, let first = first as? AsynchronousOperation {
            asynchronous = [first]
            return
        }
        var visited: Set<ObjectIdentifier> = []
        var open = [first]
        while let operation = open.popLast() {
            guard operation !== target else {
                foundTarget = true
                return
            }
            guard visited.insert(ObjectIdentifier(operation)).inserted else { continue }
            if let operation = operation as? AsynchronousOperation {
                asynchronous.append(operation)
                guard throughAsynchronous else { continue }
            }
            // Links of finished operations hold nobody up, and the finished library's own have none.
            guard !operation.isFinished else { continue }
            open += operation.dependencies
        }
    }
}

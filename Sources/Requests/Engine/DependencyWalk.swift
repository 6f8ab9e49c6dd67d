// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A walk along what operations wait for, with a list rather than the stack to remember where to go on.
///
/// Every link between asynchronous operations was checked when it was made, so the part of the graph behind one of them
/// has no cycle of its own; and an operation that nothing depends on can't be in there. The walk therefore ends at
/// asynchronous operations, unless something depends on the one that it looks for. Plain operations are walked through:
/// their links were never checked.
struct DependencyWalk {
    /// The asynchronous operations that were reached.
    private(set) var asynchronous: [AsynchronousOperation] = []
    /// From where to where the walk went until it found what it looked for; empty if it didn't.
    private(set) var path: [Operation] = []

    /// Walks until there is nowhere to go.
    ///
    /// - Parameters:
    ///   - first: Where to begin.
    ///   - throughAsynchronous: Whether anything depends on what is looked for.
    ///   - isVerified: Whether it is known that what is looked for can't be reached through an operation.
    ///   - isTarget: Whether an operation is what is looked for.
    init(
        from first: [Operation],
        throughAsynchronous: Bool,
        sparing isVerified: (Operation) -> Bool = { _ in false },
        to isTarget: (Operation) -> Bool
    ) {
        if !throughAsynchronous, first.count == 1, let first = first[0] as? AsynchronousOperation, !isTarget(first) {
            asynchronous = [first]
            return
        }
        var origins: [ObjectIdentifier: Operation?] = [:]
        var open: [(operation: Operation, origin: Operation?)] = first.map { ($0, nil) }
        var lines: ExclusiveLines?
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
            // Links of finished operations delay nothing, and the finished library's own have none.
            guard !operation.isFinished else { continue }
            for next in operation.dependencies { open.append((next, operation)) }
            guard let gate = operation as? OperationGate, gate.ticket() != nil else { continue }
            let known = lines ?? ExclusiveLines()
            for next in known.operations(before: gate) { open.append((next, operation)) }
            lines = known
        }
    }

    private static func path(to target: Operation, _ origins: [ObjectIdentifier: Operation?]) -> [Operation] {
        var path = [target]
        while let origin = origins[ObjectIdentifier(path[path.count - 1])] ?? nil { path.append(origin) }
        return path.reversed()
    }
}

extension RequestError {
    /// What an operation fails with that would wait for itself: through which others, in words.
    static func dependencyCycle(of operation: Operation, through path: [Operation]) -> RequestError {
        var names = path.filter { !($0 is OperationGate) }.map(\.shownName)
        if names.last != operation.shownName { names.append(operation.shownName) }
        if names.count > 8 { names.replaceSubrange(4..<(names.count - 3), with: ["…"]) }
        let way = names.count > 1 ? ": " + ([operation.shownName] + names).joined(separator: " → ") : ""
        return RequestError(.dependencyCycle, phase: .waiting, reason: "the operation would wait for itself\(way)")
    }
}

extension Operation {
    /// What people know the operation by.
    final var shownName: String {
        name ?? (self as? AsynchronousOperation)?.shownType ?? String(describing: type(of: self))
    }

    /// Has an operation that can't be run fail, if it is of a kind that can, and cancels it otherwise.
    final func end(refusedWith error: RequestError) {
        if let operation = self as? AsynchronousOperation { operation.refuse(error) } else { cancel() }
    }
}

/// What an operation depends on until something happens that isn't the end of another operation.
///
/// No queue runs it, so it takes no place in one.
// Sendable: Operation demands that it be restated; what is added here is a constant.
final class OperationGate: AsynchronousOperation, @unchecked Sendable {
    /// The number of the one that waits here in lines with an order of their own; nil outside of them.
    let ticket: @Sendable () -> Int?

    /// Makes a gate that is closed.
    ///
    /// - Parameters:
    ///   - causes: What has to be finished before it can open, for pictures and for the search for cycles.
    ///   - ticket: The number in ``ExclusiveLines``, if what is in front there has to be finished, too.
    init(behind causes: [Operation] = [], ticket: @escaping @Sendable () -> Int? = { nil }) {
        self.ticket = ticket
        super.init()
        for cause in causes { addDependency(cause) }
        start()
    }

    /// Nothing: it is opened from outside.
    override func execute() {}

    /// Opens it; a second call has no effect.
    func open() { finish() }
}

extension OperationQueue {
    /// For what takes no place in a queue: it has no bound, and what runs on it is short.
    static let besideBounds = OperationQueue()
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Operation {
    /// Makes the operation wait until no other operation in its exclusive categories is running.
    ///
    /// The operation must not be in a queue yet. Nested operations don't wait, just as they don't count toward the
    /// limit of their queue. Otherwise, an operation that waited for a nested operation of the same category would
    /// deadlock.
    ///
    /// - Parameters:
    ///   - categories: The categories in which only one operation may run; with none, the method does nothing.
    ///   - prerequisites: The operations that must finish before the operation is enqueued; by default, all its
    ///     dependencies.
    ///   - untilEnd: Whether the operation keeps its categories until it is finished, even if it gets its result before
    ///     its start.
    final func enqueue(
        in categories: Set<RequestOptions.ExclusiveCategory>,
        after prerequisites: [Operation]? = nil,
        untilEnd: Bool = false
    ) {
        guard !categories.isEmpty, !NestingContext.isNested, !isFinished else { return }
        let operation = self as? AsynchronousOperation
        // A caller's queue may forward its operations to another queue, which calls this method again.
        guard operation?.observer(ExclusivityTicket.self) == nil else { return }
        let ticket = ExclusivityTicket(in: categories, after: prerequisites ?? dependencies, untilEnd: untilEnd)
        if let operation {
            guard operation.add(ticket) else { return }
            operation.addVerifiedDependency(ticket.gate)
        } else {
            addDependency(ticket.gate)
            // When the operation has finished, this block leaves the queues. Until then, the block retains the ticket.
            let end = BlockOperation { [self] in
                ticket.leave()
                removeDependencies()
            }
            end.addDependency(self)
            end.runOnSeparateQueue()
            DeadlockDetector.shared.watch(self)
        }
        ticket.enqueue(self)
    }
}

extension AnyRequestOperation {
    /// Throws an error if the request has exclusive categories for which its operation isn't queued.
    final func checkExclusivity(in categories: Set<RequestOptions.ExclusiveCategory>) throws {
        guard scope == nil, observer(ExclusivityTicket.self)?.covers(categories) != true else { return }
        let names = categories.map(\.description).sorted()
        let reason =
            "the request is exclusive, but its operation isn't: pass \(names) as `exclusive:` when you add it"
        throw RequestError(.unsupported, phase: .building, reason: reason)
    }
}

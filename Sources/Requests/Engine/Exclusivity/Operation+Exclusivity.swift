// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Operation {
    /// Makes the operation wait until no other one of its exclusive categories runs.
    ///
    /// The operation must not be on a queue yet. Operations on behalf of a running one don't wait, as they don't count
    /// towards the limit of its queue: otherwise the running one would wait for itself if both are of one category.
    ///
    /// - Parameters:
    ///   - categories: The categories in which it must be the only one; if empty, nothing is done.
    ///   - prerequisites: The operations that must finish before it is enqueued; `nil`, the default, is all its dependencies.
    ///   - untilEnd: Whether it keeps its categories until it is finished, even if it has its result before its start.
    final func enqueue(
        in categories: Set<RequestOptions.ExclusiveCategory>,
        after prerequisites: [Operation]? = nil,
        untilEnd: Bool = false
    ) {
        guard !categories.isEmpty, !NestingContext.isNested, !isFinished else { return }
        let operation = self as? AsynchronousOperation
        // A caller's queue may pass its operations on to another one, which admits them again.
        guard operation?.observer(ExclusivityTicket.self) == nil else { return }
        let ticket = ExclusivityTicket(in: categories, after: prerequisites ?? dependencies, untilEnd: untilEnd)
        if let operation {
            guard operation.add(ticket) else { return }
            operation.addVerifiedDependency(ticket.gate)
        } else {
            addDependency(ticket.gate)
            // The operation leaves its queues here; until then this retains the ticket.
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
    /// Refuses a request whose exclusive categories its operation doesn't have.
    final func checkExclusivity(in categories: Set<RequestOptions.ExclusiveCategory>) throws {
        guard scope == nil, observer(ExclusivityTicket.self)?.covers(categories) != true else { return }
        let names = categories.map(\.description).sorted()
        let reason =
            "the request is exclusive, and its operation isn't: name \(names) in the call that adds it, as `exclusive:`"
        throw RequestError(.unsupported, phase: .building, reason: reason)
    }
}

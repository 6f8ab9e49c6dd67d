// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The contents of a group, attached to the group's operation as an observer.
///
/// Unlike the group, this class isn't generic over the group's value.
final class GroupContents: OperationObserver {
    let state: Locked<GroupState>
    /// The progress observers of this group and of its enclosing groups.
    let progressObservers: [QueueProgressObserver]
    // Copied from the outer groups. References to the outer groups' contents would create a retain cycle, because the
    // outer groups retain this group.
    private let outerTickets: [ExclusivityTicket]
    private let ticket = Locked<ExclusivityTicket?>(nil)

    init(on parent: some RequestQueue) {
        // The members of a nested group run on the outer group's queue, and are also members of the outer group.
        let outer = (parent as? AnyRequestOperation)?.observer(GroupContents.self)
        outerTickets = outer?.tickets ?? []
        state = Locked(
            GroupState(parentQueue: outer?.parentQueue ?? (parent as? HTTPClient)?.withoutSuspensionToken ?? parent)
        )
        progressObservers = [QueueProgressObserver()] + (outer?.progressObservers ?? [])
    }

    /// The queue that runs the members; `nil` once the group has ended.
    var parentQueue: (any RequestQueue)? { state.withLock { $0.parentQueue } }

    /// The identifiers of the members, including those that have just finished.
    var memberIDs: Set<ObjectIdentifier> { state.withLock { $0.memberIDs } }

    /// The unfinished members, in the order in which they were added.
    var operations: [Operation] { state.withLock { $0.members }.filter { !$0.isFinished } }

    /// The unfinished members, including those of nested groups.
    var nestedOperations: [Operation] {
        let operations = operations
        return operations
            + operations.flatMap { ($0 as? AnyRequestOperation)?.observer(GroupContents.self)?.nestedOperations ?? [] }
    }

    /// Sets the ticket of an exclusive group.
    func set(_ ticket: ExclusivityTicket?) {
        self.ticket.withLock { $0 = ticket }
    }

    /// The tickets of this group and of its enclosing groups.
    var tickets: [ExclusivityTicket] { (ticket.withLock { $0 }.map { [$0] } ?? []) + outerTickets }

    /// The gates that must open before a member runs.
    var gates: [OperationGate] { tickets.map(\.gate) }
}

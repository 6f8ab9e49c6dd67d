// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The contents of a group, as a feature of the group's operation: its type doesn't depend on the value of the group.
final class GroupContents: OperationObserver {
    let state: Locked<GroupState>
    /// The observers of the members' progress: the group's own, and those of the groups that contain it.
    let progressObservers: [QueueProgressObserver]
    // Not the contents of the groups that contain this one, which retain it.
    private let outerTickets: [ExclusivityTicket]
    private let ticket = Locked<ExclusivityTicket?>(nil)

    init(on parent: some RequestQueue) {
        // The members of a nested group run on the outer queue, and are members of that group.
        let outer = (parent as? AnyRequestOperation)?.observer(GroupContents.self)
        outerTickets = outer?.tickets ?? []
        state = Locked(GroupState(parent: outer?.parent ?? (parent as? HTTPClient)?.withoutSuspensionToken ?? parent))
        progressObservers = [QueueProgressObserver()] + (outer?.progressObservers ?? [])
    }

    /// The queue that runs the members; `nil` when the group is over.
    var parent: (any RequestQueue)? { state.withLock { $0.parent } }

    /// The members, including those that have just finished.
    var ids: Set<ObjectIdentifier> { state.withLock { $0.ids } }

    /// The unfinished members, in the order in which they were added.
    var operations: [Operation] { state.withLock { $0.members }.filter { !$0.isFinished } }

    /// The unfinished members, and theirs.
    var nestedOperations: [Operation] {
        let operations = operations
        return operations
            + operations.flatMap { ($0 as? AnyRequestOperation)?.observer(GroupContents.self)?.nestedOperations ?? [] }
    }

    /// Sets the ticket of an exclusive group.
    func set(_ ticket: ExclusivityTicket?) {
        self.ticket.withLock { $0 = ticket }
    }

    /// The tickets of the group and of the groups that contain it.
    var tickets: [ExclusivityTicket] { (ticket.withLock { $0 }.map { [$0] } ?? []) + outerTickets }

    /// The gates that must open before a member runs.
    var gates: [OperationGate] { tickets.map(\.gate) }
}

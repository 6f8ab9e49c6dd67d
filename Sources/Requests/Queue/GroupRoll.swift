// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The members of a group, and the open ones among them.
struct GroupRoll: Sendable {
    /// The work to cancel when a group ends.
    struct Rest: Sendable {
        let members: [Operation]
        let task: Task<Void, Never>?
        /// Released outside the lock, since this may be the last reference.
        let parent: (any RequestQueue)?

        func cancel() {
            task?.cancel()
            for member in members { member.cancel() }
        }
    }

    private(set) var parent: (any RequestQueue)?
    private(set) var members: [Operation] = []
    private(set) var ids: Set<ObjectIdentifier> = []
    private(set) var isCancelled = false
    private var open: Set<ObjectIdentifier> = []
    /// The members on which the group needn't depend any more.
    private var finished: Set<ObjectIdentifier> = []
    private var task: Task<Void, Never>?
    private var isBuilding = true
    private var isOver = false
    /// The number of members that are being added at this moment.
    private var admissions = 0

    init(parent: any RequestQueue) {
        self.parent = parent
    }

    /// The members without a result.
    var unsettled: [Operation] { members.filter { open.contains(ObjectIdentifier($0)) } }

    /// Whether the group is over, and depends on all its members.
    var isComplete: Bool { isOver && admissions == 0 }

    /// Adds a member, and returns the queue that runs it; `nil` if the group is over.
    mutating func admit(_ operation: Operation) -> (any RequestQueue)? {
        guard !isOver, let parent, ids.insert(ObjectIdentifier(operation)).inserted else { return nil }
        open.insert(ObjectIdentifier(operation))
        members.append(operation)
        admissions += 1
        return parent
    }

    /// Records that a member has announced its end.
    mutating func finish(_ id: ObjectIdentifier) {
        if ids.contains(id) { finished.insert(id) }
    }

    /// Forgets the finished members once they are the most, and returns them: a group may never end, and its members
    /// come and go.
    mutating func releaseFinished() -> [Operation] {
        guard finished.count >= max(64, members.count / 2), !isOver else { return [] }
        let released = members.filter { finished.contains(ObjectIdentifier($0)) }
        members.removeAll { finished.contains(ObjectIdentifier($0)) }
        ids.subtract(finished)
        finished = []
        return released
    }

    /// Ends the addition that ``admit(_:)`` began; returns whether the group is over meanwhile, and complete.
    mutating func endAdmission() -> Bool {
        admissions -= 1
        return isComplete
    }

    /// Records that a member has its result; returns whether it was the last one.
    mutating func settle(_ id: ObjectIdentifier) -> Bool {
        open.remove(id) != nil && open.isEmpty && !isBuilding
    }

    /// Records that the group's own members have been added; returns whether all members have results.
    mutating func endBuilding() -> Bool {
        isBuilding = false
        return open.isEmpty
    }

    /// Stores a task; returns `false` if the group is over.
    mutating func keep(_ task: Task<Void, Never>) -> Bool {
        if !isOver { self.task = task }
        return !isOver
    }

    mutating func cancel() -> Rest {
        isCancelled = true
        return end()
    }

    /// Ends the group, and returns the work to cancel.
    mutating func end() -> Rest {
        defer { (isOver, parent, task) = (true, nil, nil) }
        return Rest(members: isOver ? [] : unsettled, task: task, parent: parent)
    }
}

/// The request type of a group's operation, which is never sent.
public struct GroupRequest<Success: Sendable>: Request {
    /// A unique name.
    public let identifier = UUID().uuidString
    let typeName: String
}

/// The contents of a group, as a feature of the group's operation: its type doesn't depend on the value of the group.
final class GroupContents: OperationObserver {
    let roll: Locked<GroupRoll>
    /// The observers of the members' progress: the group's own, and those of the groups that contain it.
    let followers: [QueueFollower]
    // Not the contents of the groups that contain this one, which retain it.
    private let outerTickets: [ExclusivityTicket]
    private let ticket = Locked<ExclusivityTicket?>(nil)

    init(on parent: some RequestQueue) {
        // The members of a nested group run on the outer queue, and are members of that group.
        let outer = (parent as? AnyRequestOperation)?.observer(GroupContents.self)
        outerTickets = outer?.tickets ?? []
        roll = Locked(GroupRoll(parent: outer?.parent ?? (parent as? HTTPClient)?.forGroups ?? parent))
        followers = [QueueFollower()] + (outer?.followers ?? [])
    }

    /// The queue that runs the members; `nil` when the group is over.
    var parent: (any RequestQueue)? { roll.withLock { $0.parent } }

    /// The members, including those that have just finished.
    var ids: Set<ObjectIdentifier> { roll.withLock { $0.ids } }

    /// The unfinished members, in the order in which they were added.
    var operations: [Operation] { roll.withLock { $0.members }.filter { !$0.isFinished } }

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

/// The membership of an operation in a group, as a feature of the operation.
final class GroupMembership: OperationObserver {
    private let reference: Weak<AnyRequestOperation>
    private let member: ObjectIdentifier

    init(of member: Operation, in group: AnyRequestOperation) {
        reference = Weak(group)
        self.member = ObjectIdentifier(member)
    }

    /// The group; `nil` when it was deallocated.
    var group: AnyRequestOperation? { reference.object }

    // Not when `isFinished` is true: Foundation hasn't processed the end by then, and a group that no longer depends on
    // the member would wait for ever.
    func observe(_ step: OperationStep) {
        guard case .finished = step else { return }
        group?.observer(GroupContents.self)?.roll.withLock { $0.finish(member) }
    }
}

// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state of an operation group: its members, and which of them are unfinished.
struct GroupState: Sendable {
    /// The members and the task to cancel when a group ends.
    struct PendingWork: Sendable {
        let members: [Operation]
        let task: Task<Void, Never>?
        /// The queue is released outside the lock, because this may be the last reference to it.
        let parentQueue: (any RequestQueue)?

        func cancel() {
            task?.cancel()
            for member in members { member.cancel() }
        }
    }

    private(set) var parentQueue: (any RequestQueue)?
    private(set) var members: [Operation] = []
    private(set) var memberIDs: Set<ObjectIdentifier> = []
    private(set) var isCancelled = false
    private var incompleteIDs: Set<ObjectIdentifier> = []
    /// The finished members, on which the group no longer needs to depend.
    private var finishedIDs: Set<ObjectIdentifier> = []
    private var task: Task<Void, Never>?
    private var isBuilding = true
    private var isOver = false
    /// The number of ``admit(_:)`` calls without a matching ``endAdmission()``.
    private var admissionsInProgress = 0

    init(parentQueue: any RequestQueue) {
        self.parentQueue = parentQueue
    }

    /// The members without a result.
    var incomplete: [Operation] { members.filter { incompleteIDs.contains(ObjectIdentifier($0)) } }

    /// Whether the group has ended and depends on all its members, in which case its gate can open.
    var isComplete: Bool { isOver && admissionsInProgress == 0 }

    /// Adds a member, and returns the queue that runs it; `nil` if the group has ended.
    mutating func admit(_ operation: Operation) -> (any RequestQueue)? {
        guard !isOver, let parentQueue, memberIDs.insert(ObjectIdentifier(operation)).inserted else { return nil }
        incompleteIDs.insert(ObjectIdentifier(operation))
        members.append(operation)
        admissionsInProgress += 1
        return parentQueue
    }

    /// Records that a member has finished.
    mutating func memberFinished(_ id: ObjectIdentifier) {
        if memberIDs.contains(id) { finishedIDs.insert(id) }
    }

    /// Removes the finished members, and returns them, once they are in the majority.
    ///
    /// A group may run forever while members are added and finish, so it mustn't keep all of them.
    mutating func releaseFinished() -> [Operation] {
        guard finishedIDs.count >= max(64, members.count / 2), !isOver else { return [] }
        let released = members.filter { finishedIDs.contains(ObjectIdentifier($0)) }
        members.removeAll { finishedIDs.contains(ObjectIdentifier($0)) }
        memberIDs.subtract(finishedIDs)
        finishedIDs = []
        return released
    }

    /// Ends the admission that ``admit(_:)`` began, and returns whether the group is now complete.
    mutating func endAdmission() -> Bool {
        admissionsInProgress -= 1
        return isComplete
    }

    /// Records that a member has completed; returns whether it was the last unfinished member.
    mutating func memberCompleted(_ id: ObjectIdentifier) -> Bool {
        incompleteIDs.remove(id) != nil && incompleteIDs.isEmpty && !isBuilding
    }

    /// Records that the group's initial members have been added; returns whether all members have results.
    mutating func endBuilding() -> Bool {
        isBuilding = false
        return incompleteIDs.isEmpty
    }

    /// Stores the task of the group; returns `false` if the group has ended.
    mutating func store(_ task: Task<Void, Never>) -> Bool {
        if !isOver { self.task = task }
        return !isOver
    }

    mutating func cancel() -> PendingWork {
        isCancelled = true
        return end()
    }

    /// Ends the group, and returns the work to cancel.
    mutating func end() -> PendingWork {
        defer { (isOver, parentQueue, task) = (true, nil, nil) }
        return PendingWork(members: isOver ? [] : incomplete, task: task, parentQueue: parentQueue)
    }
}
